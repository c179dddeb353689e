#include "invoice_intake/model/email_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = *parse_iso8601("2026-01-01T10:00:00Z");

EmailProcessingTask new_task() { return EmailProcessingTask{.user_id = UserId::generate()}; }

EmailProcessingTask task_in(EmailTaskStatus status) {
  EmailProcessingTask task = new_task();
  task.status = status;
  return task;
}

ProcessingError timeout(bool retryable = true) {
  return {.type = "OCRError",
          .code = "OCR_TIMEOUT",
          .message = "it took too long",
          .retryable = retryable,
          .file = "invoice.pdf",
          .step = "ocr_extraction"};
}

TEST(EmailTask, BeginsWithTheDefaultsOfItsTable) {
  const EmailProcessingTask task = new_task();
  EXPECT_EQ(task.task_type, TaskType::email_invoice);
  EXPECT_EQ(task.status, EmailTaskStatus::pending);
  EXPECT_EQ(task.retry_count, 0);
  EXPECT_EQ(task.max_retries, 3);
  EXPECT_EQ(task.version, 1);
  EXPECT_EQ(task.task_data, "{}");
}

TEST(EmailTask, WordsOfStatusesAndTypesAreReadBack) {
  for (const EmailTaskStatus status : kAllEmailTaskStatuses) {
    EXPECT_EQ(parse_email_task_status(to_string(status)), status);
  }
  for (const TaskType type : kAllTaskTypes) EXPECT_EQ(parse_task_type(to_string(type)), type);
  EXPECT_EQ(parse_task_type("fax"), std::nullopt);
  EXPECT_EQ(parse_email_task_status("Pending"), std::nullopt);
}

TEST(EmailTask, StartsCompletesAndMeasuresTheTime) {
  EmailProcessingTask task = new_task();
  task.start_processing(kNow, "errand-1");
  EXPECT_EQ(task.status, EmailTaskStatus::processing);
  EXPECT_EQ(task.task_id, "errand-1");
  task.complete_processing(
      R"({"summary":{"processed":3,"succeeded":2,"failed":1,"invoices_created":2}})",
      kNow + 2500ms);
  EXPECT_TRUE(task.is_completed());
  EXPECT_EQ(task.processing_time, 2500ms);
  EXPECT_EQ(task.processed_count, 3);
  EXPECT_EQ(task.failed_count, 1);
  EXPECT_EQ(task.invoices_created, 2);
  EXPECT_DOUBLE_EQ(task.success_rate().value(), 2.0 / 3);
}

TEST(EmailTask, WithoutAnythingProcessedThereIsNoSuccessRate) {
  EXPECT_EQ(new_task().success_rate(), std::nullopt);
}

TEST(EmailTask, AClockThatGoesBackMakesNoNegativeTime) {
  EmailProcessingTask task = new_task();
  task.start_processing(kNow);
  task.complete_processing("{}", kNow - 1h);
  EXPECT_EQ(task.processing_time, 0ms);
}

TEST(EmailTask, AFailureKeepsTypeCodeContextAndTime) {
  EmailProcessingTask task = new_task();
  task.start_processing(kNow);
  task.fail_processing(timeout(), kNow + 1s);
  EXPECT_TRUE(task.is_failed());
  EXPECT_EQ(task.error_message, "it took too long");
  EXPECT_EQ(task.processing_time, 1s);
  const auto details = parse_json(task.error_details.value()).as_object();
  EXPECT_EQ(details.at("error_type"), "OCRError");
  EXPECT_EQ(details.at("error_code"), "OCR_TIMEOUT");
  EXPECT_EQ(details.at("context").at("file"), "invoice.pdf");
  EXPECT_EQ(details.at("context").at("step"), "ocr_extraction");
  EXPECT_EQ(details.at("timestamp"), "2026-01-01T10:00:01Z");
  EXPECT_TRUE(details.contains("traceback"));
  EXPECT_TRUE(task.can_retry());
}

TEST(EmailTask, AnErrorThatNoAttemptCanMendLeavesNoRetries) {
  EmailProcessingTask task = new_task();
  task.start_processing(kNow);
  task.fail_processing(timeout(false), kNow);
  EXPECT_FALSE(task.can_retry());
  EXPECT_EQ(task.retry_count, 0);
  EXPECT_THROW(task.schedule_retry(kNow), ValidationException);
}

TEST(EmailTask, RetriesThreeTimesAfterFiveMinutesEach) {
  EmailProcessingTask task = new_task();
  for (int retry = 1; retry <= 3; ++retry) {
    task.start_processing(kNow);
    task.fail_processing(timeout(), kNow);
    ASSERT_TRUE(task.can_retry());
    task.schedule_retry(kNow);
    EXPECT_EQ(task.status, EmailTaskStatus::retrying);
    EXPECT_EQ(task.retry_count, retry);
    EXPECT_EQ(task.next_retry_at, kNow + 300s);
  }
  task.start_processing(kNow);
  EXPECT_EQ(task.next_retry_at, std::nullopt);
  task.fail_processing(timeout(), kNow);
  EXPECT_FALSE(task.can_retry());
  EXPECT_THROW(task.schedule_retry(kNow), ValidationException);
  EXPECT_TRUE(task.is_failed()) << "a refused verb changes nothing";
}

TEST(EmailTask, VerbsAreRefusedWhereTheStatusDoesNotAllowThem) {
  using S = EmailTaskStatus;
  const auto allowed = [](auto verb) {
    std::vector<std::string> statuses;
    for (const S status : kAllEmailTaskStatuses) {
      EmailProcessingTask task = task_in(status);
      try {
        verb(task);
        statuses.emplace_back(to_string(status));
      } catch (const ValidationException&) {
        EXPECT_EQ(task.status, status);
      }
    }
    return statuses;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(allowed([](auto& task) { task.start_processing(kNow); }),
              ElementsAre("pending", "processing", "retrying"));
  EXPECT_THAT(allowed([](auto& task) { task.complete_processing("{}", kNow); }),
              ElementsAre("processing"));
  EXPECT_THAT(allowed([](auto& task) { task.fail_processing(timeout(), kNow); }),
              ElementsAre("processing"));
  EXPECT_THAT(allowed([](auto& task) { task.schedule_retry(kNow); }), ElementsAre("failed"));
  EXPECT_THAT(allowed([](auto& task) { task.cancel(kNow); }),
              ElementsAre("pending", "processing", "failed", "retrying"));
}

TEST(EmailTask, AddInvoiceKeepsIdsAndCounts) {
  EmailProcessingTask task = new_task();
  const InvoiceId first = InvoiceId::generate();
  task.add_invoice(first);
  task.add_invoice(InvoiceId::generate());
  EXPECT_EQ(task.invoices_created, 2);
  EXPECT_EQ(parse_json(task.result_data).at("invoices").at(0).at("id"), first.text().c_str());
}

TEST(EmailTask, AResultThatIsNoObjectIsRefused) {
  EmailProcessingTask task = task_in(EmailTaskStatus::processing);
  EXPECT_THROW(task.complete_processing("[1]", kNow), ValidationException);
  EXPECT_EQ(task.status, EmailTaskStatus::processing);
}

}  // namespace
}  // namespace errand::invoices
