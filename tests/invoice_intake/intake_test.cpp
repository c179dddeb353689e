#include "invoice_intake/intake/intake.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/logger.hpp"

#include "invoice_intake/database_under_test.hpp"
#include "invoice_intake/intake/maildir.hpp"
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
  EXPECT_EQ(data.at("processing_options").at("auto_extract"), true);
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
  EXPECT_EQ(take({.subject = "another text"})[0].status, Status::known);
  EXPECT_NE(take({.subject = "another text"})[0].reason, "");
  EXPECT_EQ(count(ann), 1);
  EXPECT_EQ(errand_tasks(), 1);
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
  EXPECT_NE(outcomes[0].reason, "");
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
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    take_maildir(
        mailbox, intake, std::nullopt, false, Stop{pipe_ends[0]},
        [&](const IntakeOutcome& outcome) { outcomes.push_back(outcome); }, silent_logger());
    close(pipe_ends[0]);
    close(pipe_ends[1]);
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

TEST_P(MaildirTest, ADirectoryThatIsNoneIsRefused) {
  std::filesystem::remove_all(mailbox / "new");
  EXPECT_THROW(go_through(), ConfigurationException);
}

INSTANTIATE_TEST_SUITE_P(Invoices, IntakeTest, ::testing::ValuesIn(kDatabaseMakers), maker_name);
INSTANTIATE_TEST_SUITE_P(Invoices, MaildirTest, ::testing::ValuesIn(kDatabaseMakers), maker_name);

}  // namespace
}  // namespace errand::invoices
