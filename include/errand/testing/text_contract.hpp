#pragma once

#include <array>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// Text goes in and comes out byte by byte, whatever it says; what is not text is refused.
class TextContract : public EngineContract {
 protected:
  /// Valid as type, queue and anywhere else; meant to break out of whatever an engine puts them in.
  static std::vector<std::string> hostile_names() {
    return {
        "'; DROP TABLE async_tasks; --",
        "\"; DROP TABLE async_tasks; --",
        "' OR '1'='1",
        "\" OR 1=1",
        "`async_tasks`",
        "default'--",
        "\\'",
        "\\",
        "${HOME}",
        "$1",
        "%s%n%d",
        "%",
        "_",
        "*",
        "?1",
        ":id",
        "@id",
        "{id}",
        "{}",
        "]]; redis.call('FLUSHALL') --",
        "task:*:status",
        "a b",
        " default ",
        "NULL",
        "\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7",
        "\xf0\x9f\x9a\x80",
    };
  }

  static std::vector<std::string> unusual_documents() {
    return {
        "",
        "null",
        " ",
        R"("plain")",
        R"("escaped NUL: \u0000")",
        R"("quotes \" and ' and ` and backslashes \\ \\\\")",
        "\"line\\nline\"\n\r\t",
        "\"4 bytes: \xf0\x9f\x9a\x80 \xf0\xa0\x80\x80\"",
        "\"right to left: \xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7 \xe2\x80\xae\"",
        "\"combining: e\xcc\x81 o\xcc\x88\xcc\xa3\"",
        "\"last code point: \xf4\x8f\xbf\xbf\"",
        "\"not a character: \xef\xbf\xbf \xef\xbb\xbf\"",
        "\"control: \x01\x02\x1f\x7f\"",
        "not JSON at all '; DROP TABLE async_tasks; --",
    };
  }

  static std::vector<std::string> bytes_that_are_not_text() {
    return {
        std::string{"\"a\0b\"", 5},
        std::string(1, '\0'),
        "\"\xff\"",
        "\"\xc3\"",
        "\"\xc0\xaf\"",
        "\"\xed\xa0\x80\"",
        "\"\xf5\x80\x80\x80\"",
        "\"\xe2\x82\"",
    };
  }
};

TEST_P(TextContract, AnyTextIsKeptAsPayloadResultAndHeader) {
  for (const std::string& text : unusual_documents()) {
    NewTask task = new_task_with_body(text);
    task.envelope = task.envelope.with_header("text", text);
    submit(task);
    EXPECT_EQ(storage().load(task.id)->payload, text);
    const Claim claim = claim_one();
    EXPECT_EQ(claim.envelope.body(), text);
    EXPECT_EQ(claim.envelope.headers(), task.envelope.headers());
    settle(claim.lease, Completed{text});
    EXPECT_EQ(storage().load(task.id)->result, text);
    ASSERT_EQ(queue().finished({&task.id, 1}).size(), 1U);
    EXPECT_EQ(queue().finished({&task.id, 1}).front().result, text);
  }
}

TEST_P(TextContract, AnyTextIsKeptAsErrorMessageAndProgressNote) {
  for (const std::string& text : unusual_documents()) {
    const Claim claim = submit_and_claim();
    const ProgressReport report{claim.lease, Progress{1, 2, text}};
    queue().report_progress({&report, 1});
    EXPECT_EQ(record(claim.lease.id).progress, report.progress);
    settle(claim.lease, Failed{error_named(text, text)});
    EXPECT_EQ(parse_exception_data(*record(claim.lease.id).data.error), error_named(text, text));
  }
}

TEST_P(TextContract, AnyTextIsKeptInSavedRecords) {
  for (const std::string& text : unusual_documents()) {
    TaskData task = record_in(TaskStatus::failed, now());
    task.payload = text;
    task.error = text;
    storage().save(task);
    EXPECT_EQ(storage().load(task.id)->payload, text);
    EXPECT_EQ(storage().load(task.id)->error, text);
  }
}

TEST_P(TextContract, SixteenMebibytesAreKept) {
  std::string big = "\"" + std::string(std::size_t{16} * 1024 * 1024, 'x') + "\"";
  big[1'000'000] = 'y';
  const NewTask task = new_task_with_body(big);
  submit(task);
  const Claim claim = claim_one();
  EXPECT_TRUE(claim.envelope.body() == big);
  settle(claim.lease, Completed{big});
  EXPECT_TRUE(storage().load(task.id)->payload == big);
  EXPECT_TRUE(storage().load(task.id)->result == big);
}

TEST_P(TextContract, DocumentsAboveTheLimitAreRefused) {
  const std::string too_big(kMaxDocumentBytes + 1, ' ');
  const NewTask task = new_task_with_body(too_big);
  EXPECT_THROW(submit(task), ValidationException);
  EXPECT_EQ(catalog().find(task.id), std::nullopt);

  TaskData record = record_in(TaskStatus::completed, now());
  record.result = too_big;
  EXPECT_THROW(storage().save(record), ValidationException);
  EXPECT_EQ(storage().load(record.id), std::nullopt);

  const Claim claim = submit_and_claim();
  EXPECT_THROW(settle(claim.lease, Completed{too_big}), ValidationException);
  EXPECT_EQ(status(claim.lease.id), TaskStatus::running);
}

TEST_P(TextContract, BytesThatAreNotTextAreRefused) {
  for (const std::string& bytes : bytes_that_are_not_text()) {
    const NewTask body = new_task_with_body(bytes);
    EXPECT_THROW(submit(body), ValidationException);

    NewTask header = new_task();
    header.envelope = header.envelope.with_header("name", bytes);
    EXPECT_THROW(submit(header), ValidationException);

    NewTask header_name = new_task();
    header_name.envelope = header_name.envelope.with_header(bytes, "value");
    EXPECT_THROW(submit(header_name), ValidationException);

    TaskData record = record_in(TaskStatus::pending, now());
    record.payload = bytes;
    EXPECT_THROW(storage().save(record), ValidationException);
  }
  EXPECT_EQ(task_count(), 0);
}

TEST_P(TextContract, AResultThatIsNotTextIsRefusedAndTheTaskStaysRunning) {
  const Claim claim = submit_and_claim();
  for (const std::string& bytes : bytes_that_are_not_text()) {
    EXPECT_THROW(settle(claim.lease, Completed{bytes}), ValidationException);
  }
  EXPECT_EQ(status(claim.lease.id), TaskStatus::running);
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
}

/// Whatever a handler throws must end its attempt: its message cannot be sent back for correction.
TEST_P(TextContract, AnErrorMessageThatIsNotTextStillEndsTheAttempt) {
  for (const std::string& bytes : bytes_that_are_not_text()) {
    const Claim claim = submit_and_claim();
    EXPECT_EQ(settle(claim.lease, Failed{error_named("E", bytes)}), SettleStatus::settled);
    const TaskData task = record(claim.lease.id).data;
    EXPECT_NO_THROW(validate(task));
    EXPECT_EQ(parse_exception_data(task.error.value()).class_name, "E");
  }
}

/// As above: a handler's note may be refused or mended, but it must not spoil the task.
TEST_P(TextContract, AProgressNoteThatIsNotTextDoesNoHarm) {
  for (const std::string& bytes : bytes_that_are_not_text()) {
    const Claim claim = submit_and_claim();
    const ProgressReport report{claim.lease, Progress{1, 2, bytes}};
    try {
      queue().report_progress({&report, 1});
    } catch (const ValidationException&) {
      EXPECT_EQ(record(claim.lease.id).progress, std::nullopt);
    }
    EXPECT_NO_THROW(static_cast<void>(record(claim.lease.id)));
    EXPECT_NO_THROW(static_cast<void>(catalog().list({}, {})));
    EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
  }
}

/// Client libraries that end names at the first NUL must not make two names one.
TEST_P(TextContract, ANameThatGoesOnAfterANulIsAnotherName) {
  const TaskId id = submit();
  const std::string longer{"default\0x", 9};
  try {
    EXPECT_TRUE(claim(10, {longer}).empty());
  } catch (const ValidationException&) {
  }
  try {
    pause(longer);
  } catch (const ValidationException&) {
  }
  try {
    EXPECT_EQ(catalog().list({{}, {}, longer}, {}).total, 0);
  } catch (const ValidationException&) {
  }
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(id));
}

TEST_P(TextContract, HostileNamesAreKeptAndDoNothingElse) {
  const TaskId witness = submit();
  const TaskData witness_before = record(witness).data;
  std::int64_t expected_count = 1;
  for (const std::string& name : hostile_names()) {
    SCOPED_TRACE(name);
    NewTask task = new_task_of_type(name, name);
    task.envelope = Envelope{name, name, {{name, name}, {"plain", name}}};
    submit(task);
    ++expected_count;
    ClaimRequest request = claim_request(100, {name});
    request.worker = name;
    const std::vector<Claim> claims = queue().claim(request).claims;
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(claims.front().queue, name);
    EXPECT_EQ(claims.front().envelope.type(), name);
    EXPECT_EQ(claims.front().envelope.body(), name);
    EXPECT_EQ(claims.front().envelope.headers(), task.envelope.headers());
    EXPECT_EQ(record(task.id).worker, name);

    const ProgressReport report{claims.front().lease, Progress{1, 2, name}};
    queue().report_progress({&report, 1});
    EXPECT_EQ(record(task.id).progress->note, name);
    settle(claims.front().lease, Completed{name});
    EXPECT_EQ(record(task.id).data.result, name);

    EXPECT_EQ(task_count(), expected_count);
    EXPECT_EQ(record(witness).data, witness_before);
  }
}

TEST_P(TextContract, HostileFiltersMatchWhatIsNamedSoAndNothingElse) {
  submit();
  for (const std::string& name : hostile_names()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(catalog().list({{}, name, {}}, {}).total, 0);
    EXPECT_EQ(catalog().list({{}, {}, name}, {}).total, 0);
    const TaskId id = submit(new_task_of_type(name, name));
    const TaskPage by_type = catalog().list({{}, name, {}}, {});
    const TaskPage by_queue = catalog().list({{}, {}, name}, {});
    ASSERT_EQ(by_type.items.size(), 1U);
    ASSERT_EQ(by_queue.items.size(), 1U);
    EXPECT_EQ(by_type.items.front().data.id, id);
    EXPECT_EQ(by_queue.items.front().data.id, id);
  }
}

TEST_P(TextContract, HostileQueueNamesPauseThatQueueOnly) {
  const TaskId witness = submit();
  for (const std::string& name : hostile_names()) {
    SCOPED_TRACE(name);
    const TaskId id = submit(new_task(name));
    pause(name);
    EXPECT_TRUE(claim(10, {name}).empty());
    resume(name);
    EXPECT_THAT(ids_of(claim(10, {name})), ::testing::ElementsAre(id));
  }
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(witness));
}

TEST_P(TextContract, HostileWorkerNamesAreKept) {
  const std::vector<std::string> names = hostile_names();
  for (const std::string& name : names) {
    WorkerInfo worker;
    worker.worker = name;
    worker.host = name;
    worker.queues = {name, "plain"};
    workers().beat(worker, std::chrono::hours{1});
  }
  const std::vector<WorkerInfo> all = workers().workers();
  ASSERT_EQ(all.size(), names.size());
  for (const WorkerInfo& worker : all) {
    EXPECT_EQ(worker.host, worker.worker);
    EXPECT_THAT(worker.queues, ::testing::ElementsAre(worker.worker, "plain"));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    workers().retire(names[i]);
    EXPECT_EQ(workers().workers().size(), names.size() - i - 1) << names[i];
  }
}

}  // namespace errand::testing
