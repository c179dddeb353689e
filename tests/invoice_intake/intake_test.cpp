#include "invoice_intake/intake/intake.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stop_token>

#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/logger.hpp"

#include "invoice_intake/database_under_test.hpp"
#include "invoice_intake/intake/maildir.hpp"
#include "invoice_intake/intake/purge.hpp"
#include "invoice_intake/intake/sha256.hpp"
#include "invoice_intake/mail_samples.hpp"
#include "invoice_intake/store/email_tasks.hpp"

namespace errand::invoices {
namespace {

using Status = IntakeOutcome::Status;

class IntakeTest : public DatabaseTest {
 protected:
  std::vector<IntakeOutcome> take(const SampleMail& mail,
                                  const std::optional<Profile>& user = std::nullopt) {
    return intake.take_mail(make_mail(mail), "a test", user);
  }
  EmailProcessingTask load(const Profile& user, const EmailTaskId& id) {
    std::optional<EmailProcessingTask> task;
    database->read(user.user_id, [&](Session& session) { task = find_task(session, id); });
    return task.value();
  }
  std::int64_t count(const Profile& user) {
    std::int64_t total = 0;
    database->read(user.user_id,
                   [&](Session& session) { total = list_tasks(session, {}, 1, 1).total; });
    return total;
  }
  std::int64_t errand_tasks() {
    return open_engine(Dsn{under_test->dsn()})->catalog().list({}, {}).total;
  }

  testing::TempDir directory;
  Originals originals{directory / "originals"};
  Intake intake{*database, originals};
};

TEST_P(IntakeTest, AnEmailBecomesATaskWithItsDataAndAnErrandTask) {
  const std::vector<IntakeOutcome> outcomes = take({});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].status, Status::created);
  EXPECT_EQ(outcomes[0].user, "ann@example.com");
  const EmailProcessingTask task = load(ann, *outcomes[0].task);
  EXPECT_EQ(task.status, EmailTaskStatus::pending);
  EXPECT_EQ(task.email_message_id, "1@mail.example.com");
  EXPECT_EQ(task.email_from, "billing@seller.example");
  EXPECT_EQ(task.attachments_count, 1);
  const auto data = parse_json(task.task_data);
  EXPECT_EQ(data.at("email_data").at("message_id"), "1@mail.example.com");
  EXPECT_EQ(data.at("email_data").at("to").at(0), "ann+invoice@example.com");
  EXPECT_EQ(data.at("email_data").at("received_at"), "2026-01-01T02:00:00Z");
  EXPECT_EQ(data.at("email_data").at("attachments").at(0).at("filename"), "invoice.pdf");
  EXPECT_EQ(read_file(originals.path_of(data.at("original").as_string().c_str())), make_mail({}));
  EXPECT_EQ(open_engine(Dsn{under_test->dsn()})
                ->storage()
                .load(TaskId::from_string(task.task_id.value()))
                ->status,
            TaskStatus::pending);
}

TEST_P(IntakeTest, TheSameMessageIdIsTakenInOnce) {
  const EmailTaskId first = *take({})[0].task;
  const std::vector<IntakeOutcome> again = take({});
  EXPECT_EQ(again[0].status, Status::known);
  EXPECT_EQ(again[0].task, first);
  EXPECT_EQ(take({.more_headers = "Received: by another way\r\n"})[0].status, Status::known);
  EXPECT_EQ(count(ann), 1);
  EXPECT_EQ(errand_tasks(), 1);
}

TEST_P(IntakeTest, AnotherEmailWithAMessageIdThatWasUsedIsATaskOfItsOwn) {
  const EmailTaskId first = *take({})[0].task;
  const std::vector<IntakeOutcome> other = take({.attachment = "another attachment"});
  EXPECT_EQ(other[0].status, Status::created);
  EXPECT_NE(other[0].task, first);
  EXPECT_EQ(parse_json(load(ann, *other[0].task).task_data).at("email_data").at("message_id"),
            "1@mail.example.com");
  EXPECT_EQ(take({.attachment = "another attachment"})[0].status, Status::known);
  EXPECT_EQ(take({.attachment = "another attachment"})[0].task, other[0].task);
  EXPECT_EQ(take({})[0].task, first);
  EXPECT_EQ(count(ann), 2);
  EXPECT_EQ(errand_tasks(), 2);
}

TEST_P(IntakeTest, AnEmailToTwoUsersIsATaskOfEach) {
  const std::vector<IntakeOutcome> outcomes =
      take({.to = "ann+x@example.com, Bob <BOB@example.com>, ann@example.com"});
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(count(ann), 1);
  EXPECT_EQ(count(bob), 1);
}

TEST_P(IntakeTest, WhereItWasDeliveredCountsMoreThanWhatTheSenderWrote) {
  const std::vector<IntakeOutcome> outcomes =
      take({.more_headers = "Delivered-To: bob@example.com\r\n"});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].user, "bob@example.com");
}

TEST_P(IntakeTest, AChosenUserCountsMoreThanAllAddresses) {
  EXPECT_EQ(take({}, bob)[0].user, "bob@example.com");
}

TEST_P(IntakeTest, MailToNobodyIsRefusedAndNotKept) {
  const std::vector<IntakeOutcome> outcomes = take({.to = "eve@example.com"});
  EXPECT_EQ(outcomes[0].status, Status::refused);
  EXPECT_THAT(outcomes[0].reason, ::testing::HasSubstr("eve@example.com"));
  EXPECT_TRUE(std::filesystem::is_empty(directory / "originals"));
}

TEST_P(IntakeTest, HeadersCannotSmuggleAnythingIn) {
  const std::vector<IntakeOutcome> outcomes = take(
      {.to = "ann@example.com", .subject = "=?utf-8?Q?x=0D=0ADelivered-To:_bob@example.com?="});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].user, "ann@example.com");
  EXPECT_EQ(outcomes[0].subject.find_first_of("\r\n"), std::string::npos);
}

TEST_P(IntakeTest, FilesBecomeOneBatch) {
  std::ofstream{directory / "a.pdf"} << "one";
  std::ofstream{directory / "b.ofd"} << "two";
  const IntakeOutcome outcome = intake.take_files({directory / "a.pdf", directory / "b.ofd"}, ann);
  EXPECT_EQ(outcome.status, Status::created);
  const EmailProcessingTask task = load(ann, *outcome.task);
  EXPECT_EQ(task.task_type, TaskType::batch_import);
  EXPECT_EQ(task.attachments_count, 2);
  const auto data = parse_json(task.task_data);
  EXPECT_EQ(data.at("files").at(1).at("filename"), "b.ofd");
  EXPECT_EQ(read_file(originals.path_of(data.at("files").at(1).at("original").as_string().c_str())),
            "two");
  EXPECT_EQ(task.email_subject, "a.pdf and 1 more");
  const IntakeOutcome again = intake.take_files({directory / "b.ofd", directory / "a.pdf"}, ann);
  EXPECT_EQ(again.status, Status::known);
  EXPECT_EQ(again.task, outcome.task);
  EXPECT_EQ(count(ann), 1);
}

/// Content and originals of tasks that ended long ago.
class PurgeTest : public IntakeTest {
 protected:
  EmailTaskId completed(const SampleMail& mail) {
    const EmailTaskId id = *take(mail, ann)[0].task;
    database->write(ann.user_id, [&](Session& session) {
      EmailProcessingTask task = find_task(session, id).value();
      task.start_processing(session.now());
      task.complete_processing(R"({"summary":{"processed":1}})", session.now());
      update_task(session, task);
    });
    under_test->execute(
        "UPDATE email_processing_tasks SET completed_at = '2020-01-01 00:00:00.000000' WHERE id = "
        "'" +
        id.text() + "'");
    return id;
  }
  std::filesystem::path original(const SampleMail& mail) {
    return originals.path_of(sha256_of(make_mail(mail)));
  }
  void make_old(const SampleMail& mail) {
    std::filesystem::last_write_time(
        original(mail), std::filesystem::file_time_type::clock::now() - std::chrono::days{2});
  }
  PurgeReport run(bool dry_run = false) {
    return purge(*database, originals, {.older_than = std::chrono::days{90}, .dry_run = dry_run});
  }

  const SampleMail old_mail{.message_id = "<old@x>", .attachment = "old"};
  const SampleMail new_mail{.message_id = "<new@x>", .attachment = "new"};
};

TEST_P(PurgeTest, TakesTheContentAndLeavesWhatAnAuditAsksFor) {
  const EmailTaskId old_task = completed(old_mail);
  const EmailTaskId new_task = *take(new_mail)[0].task;
  make_old(old_mail);
  make_old(new_mail);
  EXPECT_EQ(run(true).tasks, 1);
  EXPECT_TRUE(std::filesystem::exists(original(old_mail))) << "a dry run changes nothing";
  const PurgeReport report = run();
  EXPECT_EQ(report.tasks, 1);
  EXPECT_EQ(report.originals, 1);
  EXPECT_EQ(report.bytes, static_cast<std::int64_t>(make_mail(old_mail).size()));
  EXPECT_FALSE(std::filesystem::exists(original(old_mail)));
  EXPECT_TRUE(std::filesystem::exists(original(new_mail)));
  const EmailProcessingTask task = load(ann, old_task);
  const auto data = parse_json(task.task_data);
  EXPECT_EQ(data.at("email_data").at("message_id"), "old@x");
  EXPECT_FALSE(data.at("email_data").as_object().contains("body_text"));
  EXPECT_EQ(task.email_from, "billing@seller.example");
  EXPECT_EQ(parse_json(task.result_data).at("summary").at("processed"), 1);
  EXPECT_TRUE(
      parse_json(load(ann, new_task).task_data).at("email_data").as_object().contains("body_text"));
  EXPECT_EQ(run().tasks, 0) << "once is enough";
  EXPECT_EQ(take(old_mail)[0].status, Status::known) << "it is not taken in again";
}

TEST_P(PurgeTest, AnOriginalThatAnotherUserNeedsOrSomebodyJustKeptStays) {
  completed(old_mail);
  take(old_mail, bob);
  make_old(old_mail);
  EXPECT_EQ(run().originals, 0);
  EXPECT_TRUE(std::filesystem::exists(original(old_mail)));
  completed(new_mail);
  make_old(new_mail);
  originals.keep(make_mail(new_mail));  // its task may be about to be stored
  EXPECT_EQ(run().originals, 0);
  EXPECT_TRUE(std::filesystem::exists(original(new_mail)));
}

/// A Maildir, gone through once.
class MaildirTest : public IntakeTest {
 protected:
  MaildirTest() {
    for (const char* name : {"new", "cur", "tmp"}) {
      std::filesystem::create_directories(mailbox / name);
    }
  }
  void deliver(const std::string& name, const std::string& bytes) {
    std::ofstream{mailbox / "new" / name} << bytes;
  }
  std::vector<IntakeOutcome> go_through() {
    std::vector<IntakeOutcome> outcomes;
    take_maildir(
        mailbox, intake, std::nullopt, false, Stop{std::stop_token{}},
        [&](const IntakeOutcome& outcome) { outcomes.push_back(outcome); }, silent_logger());
    return outcomes;
  }

  const std::filesystem::path mailbox = directory / "Maildir";
};

TEST_P(MaildirTest, WhatIsStoredMovesToCurAndTheRestStays) {
  deliver("1.a", make_mail({.message_id = "<1@x>"}));
  deliver("2.b", "no e-mail");
  deliver("3.c", make_mail({.message_id = "<3@x>", .to = "eve@example.com"}));
  EXPECT_EQ(go_through().size(), 3U);
  EXPECT_EQ(count(ann), 1);
  EXPECT_TRUE(std::filesystem::exists(mailbox / "cur" / "1.a:2,"));
  EXPECT_TRUE(std::filesystem::exists(mailbox / "new" / "2.b"));
  EXPECT_TRUE(std::filesystem::exists(mailbox / "new" / "3.c"));
}

TEST_P(MaildirTest, WhatWasStoredButNotMovedIsNotTakenInTwice) {
  deliver("1.a", make_mail({}));
  go_through();
  std::filesystem::rename(mailbox / "cur" / "1.a:2,", mailbox / "new" / "1.a");
  EXPECT_EQ(go_through().at(0).status, Status::known);
  EXPECT_EQ(count(ann), 1);
  EXPECT_TRUE(std::filesystem::exists(mailbox / "cur" / "1.a:2,"));
}

TEST_P(MaildirTest, AFileThatCannotBeReadDoesNotHoldUpTheOthers) {
  // Permissions do not stop root. These do: reading fails, and it leads to itself.
  std::filesystem::create_symlink("/proc/self/mem", mailbox / "new" / "1.a");
  std::filesystem::create_symlink("2.b", mailbox / "new" / "2.b");
  deliver("3.c", make_mail({.message_id = "<3@x>"}));
  const std::vector<IntakeOutcome> outcomes = go_through();
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[0].status, Status::refused);
  EXPECT_EQ(outcomes[1].status, Status::refused);
  EXPECT_EQ(outcomes[2].status, Status::created);
}

TEST_P(MaildirTest, ADirectoryThatIsNoneIsRefused) {
  std::filesystem::remove_all(mailbox / "new");
  EXPECT_THROW(go_through(), ConfigurationException);
}

INSTANTIATE_TEST_SUITE_P(Invoices, IntakeTest, ::testing::ValuesIn(kDatabaseMakers), maker_name);
INSTANTIATE_TEST_SUITE_P(Invoices, PurgeTest, ::testing::ValuesIn(kDatabaseMakers), maker_name);
INSTANTIATE_TEST_SUITE_P(Invoices, MaildirTest, ::testing::ValuesIn(kDatabaseMakers), maker_name);

}  // namespace
}  // namespace errand::invoices
