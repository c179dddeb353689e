#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/database_under_test.hpp"
#include "invoice_intake/intake/intake.hpp"
#include "invoice_intake/intake/ocr_retry.hpp"
#include "invoice_intake/mail_samples.hpp"
#include "invoice_intake/processing/lost_tasks.hpp"
#include "invoice_intake/processing/process_task.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/invoice_rows.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

ExtractedInvoice invoice(const std::string& number, Source source = Source::xml,
                         double confidence = 1) {
  ExtractedInvoice found;
  found.number = {number, source, confidence};
  found.issue_date = Field{"2025-02-08", source, confidence};
  found.seller_name = Field{"供应商公司", source, confidence};
  found.total = Field{"1000.00", source, confidence};
  found.confidence = confidence;
  return found;
}

AttachmentReport attachment(const std::string& name, std::vector<ExtractedInvoice> invoices) {
  AttachmentReport report;
  report.path = name;
  report.name = name;
  report.status = invoices.empty() ? AttachmentStatus::ignored : AttachmentStatus::processed;
  report.invoices = std::move(invoices);
  report.milliseconds.total = 2500;
  return report;
}

AttachmentReport broken(const std::string& name, bool retryable = false) {
  AttachmentReport report = attachment(name, {});
  report.status = AttachmentStatus::failed;
  report.error = ExtractionError{"damaged_pdf", "OCR extraction failed", retryable};
  return report;
}

/// Handlers with a real storage, a real worker, and reports of the test's choice.
class ProcessingTest : public DatabaseTest {
 protected:
  ProcessingTest() {
    options.retry_delay = 0s;
    add_handlers(app, *database, originals, options,
                 [this](const std::filesystem::path& file, InputKind kind,
                        const ExtractionOptions& used, const std::stop_token&) {
                   EXPECT_TRUE(std::filesystem::exists(file));
                   last_kind = kind;
                   last_options = used;
                   ++extractions;
                   if (throws) std::rethrow_exception(throws);
                   return report;
                 });
  }

  EmailTaskId take(const std::string& message_id = "<1@x>") {
    return *intake.take_mail(make_mail({.message_id = message_id}), "a test", ann).at(0).task;
  }

  /// Runs whatever is due until nothing is.
  void drain() {
    WorkerOptions worker;
    worker.queues = {kQueue};
    worker.concurrency = 2;
    worker.drain = true;
    Worker{app.engine(), app.handlers(), worker}.run({});
  }

  EmailProcessingTask load(const EmailTaskId& id) {
    std::optional<EmailProcessingTask> task;
    database->read(ann.user_id, [&](Session& session) { task = find_task(session, id); });
    return task.value();
  }

  boost::json::value result(const EmailTaskId& id) { return parse_json(load(id).result_data); }

  TaskStatus errand_status(const EmailTaskId& id) {
    return app.engine().storage().load(TaskId::from_string(load(id).task_id.value()))->status;
  }

  std::vector<Invoice> stored() {
    std::vector<Invoice> invoices;
    database->read(ann.user_id,
                   [&](Session& session) { invoices = list_invoices(session, {}, 1, 100).items; });
    return invoices;
  }

  testing::TempDir directory;
  Originals originals{directory / "originals"};
  Intake intake{*database, originals};
  Application app{Dsn{under_test->dsn()}};
  ProcessingOptions options;
  ExtractionReport report;
  std::exception_ptr throws;
  InputKind last_kind{};
  ExtractionOptions last_options;
  int extractions = 0;
};

TEST_P(ProcessingTest, TheResultHasTheSpecifiedForm) {
  report.attachments = {attachment("invoice1.pdf", {invoice("INV-12345")}), broken("invoice2.pdf")};
  const EmailTaskId id = take();
  drain();
  const EmailProcessingTask task = load(id);
  EXPECT_EQ(task.status, EmailTaskStatus::completed);
  EXPECT_EQ(task.attachments_count, 2);
  EXPECT_EQ(task.processed_count, 2);
  EXPECT_EQ(task.failed_count, 1);
  EXPECT_EQ(task.invoices_created, 1);
  EXPECT_DOUBLE_EQ(task.success_rate().value(), 0.5);
  EXPECT_TRUE(task.processing_time.has_value());

  const auto document = parse_json(task.result_data);
  const auto& summary = document.at("summary");
  EXPECT_EQ(summary.at("total_attachments"), 2);
  EXPECT_EQ(summary.at("processed"), 2);
  EXPECT_EQ(summary.at("succeeded"), 1);
  EXPECT_EQ(summary.at("failed"), 1);
  EXPECT_EQ(summary.at("invoices_created"), 1);
  const auto& first = document.at("attachments").at(0);
  EXPECT_EQ(first.at("filename"), "invoice1.pdf");
  EXPECT_EQ(first.at("status"), "success");
  EXPECT_EQ(first.at("processing_time").to_number<double>(), 2.5);
  EXPECT_EQ(first.at("invoice_id"), stored().at(0).id.text().c_str());
  const auto& second = document.at("attachments").at(1);
  EXPECT_EQ(second.at("status"), "failed");
  EXPECT_EQ(second.at("error"), "OCR extraction failed");
  const auto& created = document.at("invoices").at(0);
  EXPECT_EQ(created.at("id"), stored().at(0).id.text().c_str());
  EXPECT_EQ(created.at("invoice_number"), "INV-12345");
  EXPECT_EQ(created.at("amount").to_number<double>(), 1000.0);
  EXPECT_EQ(created.at("seller_name"), "供应商公司");
  const auto& details = document.at("processing_details");
  EXPECT_EQ(details.at("start_time"), to_iso8601(*task.started_at).c_str());
  EXPECT_TRUE(details.at("total_time").is_number());
  EXPECT_EQ(details.at("celery_task_id"), task.task_id->c_str());
  EXPECT_EQ(errand_status(id), TaskStatus::completed);
}

TEST_P(ProcessingTest, AnInvoiceThatTheUserHasIsADuplicate) {
  report.attachments = {attachment("a.xml", {invoice("25442000000012341234")})};
  const EmailTaskId first = take("<1@x>");
  drain();
  const EmailTaskId second = take("<2@x>");
  drain();
  EXPECT_EQ(stored().size(), 1U);
  EXPECT_EQ(load(second).status, EmailTaskStatus::completed);
  EXPECT_EQ(load(second).invoices_created, 0);
  EXPECT_EQ(result(second).at("attachments").at(0).at("status"), "duplicate");
  EXPECT_EQ(result(second).at("attachments").at(0).at("invoice_id"),
            result(first).at("invoices").at(0).at("id"));
  EXPECT_EQ(result(second).at("summary").at("skipped_duplicates"), 1);
}

TEST_P(ProcessingTest, OneInvoiceInThreeFormsIsStoredOnceFromTheSurestOne) {
  report.attachments = {attachment("a.png", {invoice("25442000000012341234", Source::ocr, 0.6)}),
                        attachment("a.xml", {invoice("25442000000012341234", Source::xml, 1)}),
                        attachment("a.pdf", {invoice("25442000000012341234", Source::text, 0.95)})};
  const EmailTaskId id = take();
  drain();
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored()[0].attachment_path, "a.xml");
  EXPECT_EQ(load(id).invoices_created, 1);
  EXPECT_EQ(result(id).at("attachments").at(0).at("status"), "duplicate");
  EXPECT_EQ(result(id).at("attachments").at(1).at("status"), "success");
}

TEST_P(ProcessingTest, AnEmailWithoutInvoicesIsCompleted) {
  report.attachments = {attachment("logo.png", {})};
  const EmailTaskId id = take();
  drain();
  EXPECT_EQ(load(id).status, EmailTaskStatus::completed);
  EXPECT_EQ(load(id).processed_count, 0);
  EXPECT_EQ(result(id).at("attachments").at(0).at("status"), "ignored");
}

TEST_P(ProcessingTest, WhereNothingCanEverBeReadTheTaskFailsAtOnce) {
  report.attachments = {broken("a.pdf"), broken("b.pdf")};
  const EmailTaskId id = take();
  drain();
  const EmailProcessingTask task = load(id);
  EXPECT_EQ(task.status, EmailTaskStatus::failed);
  EXPECT_FALSE(task.can_retry());
  EXPECT_EQ(task.failed_count, 2);
  EXPECT_EQ(extractions, 1);
  const auto details = parse_json(task.error_details.value());
  EXPECT_EQ(details.at("error_code"), "damaged_pdf");
  EXPECT_EQ(details.at("context").at("file"), "a.pdf");
  EXPECT_EQ(result(id).at("attachments").at(1).at("status"), "failed");
  EXPECT_EQ(errand_status(id), TaskStatus::failed);
}

TEST_P(ProcessingTest, WhatMayPassIsTriedAgainThreeTimes) {
  report.attachments = {broken("a.pdf", true)};
  const EmailTaskId id = take();
  drain();
  EXPECT_EQ(extractions, 4);
  EXPECT_EQ(load(id).status, EmailTaskStatus::failed);
  EXPECT_EQ(load(id).retry_count, 3);
  EXPECT_EQ(errand_status(id), TaskStatus::failed);
}

TEST_P(ProcessingTest, ATaskThatWaitsForItsRetrySaysSo) {
  options.retry_delay = 300s;
  report.attachments = {broken("a.pdf", true)};
  const EmailTaskId id = take();
  drain();
  const EmailProcessingTask task = load(id);
  EXPECT_EQ(task.status, EmailTaskStatus::retrying);
  EXPECT_EQ(task.retry_count, 1);
  EXPECT_EQ(task.next_retry_at.value() - task.completed_at.value(), 300s);
  EXPECT_EQ(errand_status(id), TaskStatus::retrying);
}

TEST_P(ProcessingTest, WhatTookTooLongIsTriedOnceMoreWithMoreTime) {
  report.attachments = {broken("a.png")};
  report.attachments[0].error->code = "time_limit";
  const EmailTaskId id = take();
  drain();
  EXPECT_EQ(extractions, 2);
  EXPECT_EQ(last_options.limits.attachment_time, options.patient_attachment_time);
  EXPECT_EQ(load(id).status, EmailTaskStatus::failed);
  EXPECT_FALSE(load(id).can_retry());
}

TEST_P(ProcessingTest, WithoutAnExtractorTheErrorSaysSo) {
  throws =
      std::make_exception_ptr(ExtractorUnavailable{"errand-invoice-extractor is not there", false});
  const EmailTaskId id = take();
  drain();
  EXPECT_EQ(load(id).status, EmailTaskStatus::failed);
  EXPECT_THAT(load(id).error_details.value(), HasSubstr("extractor_unavailable"));
}

TEST_P(ProcessingTest, ErrorDetailsSayWhatFailedWhoseFaultItIsAndWhatLedToIt) {
  report.attachments = {broken("a.pdf"), broken("b.pdf")};
  report.attachments[1].error->code = "encrypted_pdf";
  const EmailTaskId id = take();
  drain();
  const auto details = parse_json(load(id).error_details.value());
  EXPECT_EQ(details.at("error_type"), "DocumentError");
  EXPECT_EQ(details.at("context").at("provider"), "errand-invoice-extractor");
  EXPECT_THAT(std::string{details.at("traceback").as_string()},
              HasSubstr("b.pdf: encrypted_pdf: OCR extraction failed"));

  throws = std::make_exception_ptr(
      StorageException{"the disk is full", StorageException::Retry::useless});
  const EmailTaskId other = take("<2@x>");
  drain();
  const auto storage = parse_json(load(other).error_details.value());
  EXPECT_EQ(storage.at("error_type"), "errand::StorageException");
  EXPECT_EQ(storage.at("error_code"), "storage");
  EXPECT_EQ(storage.at("context").at("provider"), "storage");
  EXPECT_THAT(std::string{storage.at("traceback").as_string()}, HasSubstr("the disk is full"));
}

/// Attempts that the row knows nothing of are spent, and then the task itself fails.
TEST_P(ProcessingTest, TroubleWithTheStorageUsesUpNoRetryOfTheRow) {
  throws = std::make_exception_ptr(
      StorageException{"the connection broke", StorageException::Retry::helps});
  const EmailTaskId id = take();
  const std::string first = load(id).task_id.value();
  for (int attempt = 1; attempt <= kMaxRetries + 1; ++attempt) {
    drain();
    under_test->execute(
        "UPDATE async_tasks SET available_at = submitted_at WHERE status = 'retrying'");
  }
  EXPECT_EQ(app.engine().storage().load(TaskId::from_string(first))->status, TaskStatus::failed);
  EXPECT_EQ(load(id).retry_count, 1);
  EXPECT_FALSE(is_lost(app.engine(), load(id)));
  throws = nullptr;
  report.attachments = {attachment("a.xml", {invoice("25442000000012341234")})};
  for (int attempt = 1; attempt <= kMaxRetries + 1; ++attempt) {
    under_test->execute(
        "UPDATE async_tasks SET available_at = submitted_at WHERE status IN ('retrying', "
        "'pending')");
    drain();
  }
  EXPECT_EQ(load(id).status, EmailTaskStatus::completed);
}

TEST_P(ProcessingTest, ALostOriginalFailsTheTaskForGood) {
  throws = std::make_exception_ptr(
      std::system_error{std::make_error_code(std::errc::no_such_file_or_directory)});
  const EmailTaskId id = take();
  drain();
  EXPECT_EQ(load(id).status, EmailTaskStatus::failed);
  EXPECT_FALSE(load(id).can_retry());
}

TEST_P(ProcessingTest, AHandlerThatRunsAgainAfterItsWorkWasStoredDoesNothing) {
  report.attachments = {attachment("a.xml", {invoice("25442000000012341234")})};
  const EmailTaskId id = take();
  drain();
  // As after a worker that was killed between the row's commit and its own.
  const EmailProcessingTask before = load(id);
  TaskContext context{TaskId::generate()};
  const std::string answer =
      app.handlers().run(Envelope{"email_invoice", R"({"user":")" + ann.user_id.text() +
                                                       R"(","email_task":")" + id.text() + "\"}"},
                         context);
  EXPECT_THAT(answer, HasSubstr("completed"));
  EXPECT_EQ(load(id).version, before.version);
  EXPECT_EQ(extractions, 1);
  EXPECT_EQ(stored().size(), 1U);
}

TEST_P(ProcessingTest, ACancelledTaskIsNotProcessed) {
  const EmailTaskId id = take();
  database->write(ann.user_id, [&](Session& session) {
    EmailProcessingTask task = find_task(session, id).value();
    task.cancel(session.now());
    update_task(session, task);
  });
  drain();
  EXPECT_EQ(extractions, 0);
  EXPECT_EQ(load(id).status, EmailTaskStatus::cancelled);
  EXPECT_EQ(errand_status(id), TaskStatus::cancelled);
}

TEST_P(ProcessingTest, FilesOfABatchKeepTheirNames) {
  report.attachments = {attachment("0f3a", {invoice("25442000000012341234")})};
  std::ofstream{directory / "发票.pdf"} << "bytes";
  const EmailTaskId id = *intake.take_files({directory / "发票.pdf"}, ann).task;
  drain();
  EXPECT_EQ(last_kind, InputKind::file);
  EXPECT_EQ(load(id).status, EmailTaskStatus::completed);
  EXPECT_EQ(result(id).at("attachments").at(0).at("filename"), "发票.pdf");
  EXPECT_EQ(stored().at(0).attachment_path, "发票.pdf");
}

TEST_P(ProcessingTest, AnOcrRetryReadsOnlyWhatFailedAndTakesItsTime) {
  report.attachments = {attachment("good.xml", {invoice("25442000000012341234")}),
                        broken("bad.png")};
  const EmailTaskId id = take();
  drain();
  std::optional<EmailProcessingTask> again;
  database->write(ann.user_id,
                  [&](Session& session) { again = submit_ocr_retry(session, load(id)); });
  ASSERT_TRUE(again.has_value());
  report.attachments[1] = attachment("bad.png", {invoice("25442000000099999999")});
  drain();
  const EmailProcessingTask done = load(again->id);
  EXPECT_EQ(done.task_type, TaskType::ocr_retry);
  EXPECT_EQ(done.status, EmailTaskStatus::completed);
  EXPECT_EQ(done.invoices_created, 1);
  EXPECT_EQ(result(again->id).at("attachments").as_array().size(), 1U);
  EXPECT_EQ(last_options.limits.attachment_time, options.patient_attachment_time);
  EXPECT_EQ(stored().size(), 2U);
  database->write(ann.user_id, [&](Session& session) {
    EXPECT_EQ(submit_ocr_retry(session, done), std::nullopt) << "nothing failed any more";
  });
}

TEST_P(ProcessingTest, AnOcrRetryReadsWhatWasNotReachedToo) {
  report.attachments = {attachment("good.xml", {invoice("25442000000012341234")})};
  report.error = ExtractionError{"time_limit", "it took too long", false};
  const EmailTaskId id = take();
  drain();
  EXPECT_EQ(load(id).failed_count, 1);
  std::optional<EmailProcessingTask> again;
  database->write(ann.user_id,
                  [&](Session& session) { again = submit_ocr_retry(session, load(id)); });
  ASSERT_TRUE(again.has_value());
  report.attachments.push_back(attachment("late.xml", {invoice("25442000000099999999")}));
  report.error.reset();
  drain();
  EXPECT_EQ(load(again->id).status, EmailTaskStatus::completed);
  ASSERT_EQ(result(again->id).at("attachments").as_array().size(), 1U);
  EXPECT_EQ(result(again->id).at("attachments").at(0).at("path"), "late.xml");
  EXPECT_EQ(stored().size(), 2U);
}

TEST_P(ProcessingTest, AnOcrRetryReadsWhatWasNotReachedInAnArchive) {
  std::ofstream{directory / "all.zip"} << "bytes";
  report.attachments = {attachment("0f3a/1.xml", {invoice("25442000000012341234")})};
  report.error = ExtractionError{"too_many_parts", "too many", false};
  const EmailTaskId id = *intake.take_files({directory / "all.zip"}, ann).task;
  drain();
  std::optional<EmailProcessingTask> again;
  database->write(ann.user_id,
                  [&](Session& session) { again = submit_ocr_retry(session, load(id)); });
  ASSERT_TRUE(again.has_value());
  report.attachments.push_back(attachment("0f3a/2.xml", {invoice("25442000000099999999")}));
  report.error.reset();
  drain();
  ASSERT_EQ(result(again->id).at("attachments").as_array().size(), 1U);
  EXPECT_EQ(result(again->id).at("attachments").at(0).at("path"), "all.zip/2.xml");
}

TEST_P(ProcessingTest, LostTasksAreSettled) {
  const EmailTaskId cancelled = take("<1@x>");
  const EmailTaskId gone = take("<2@x>");
  const EmailTaskId poison = take("<3@x>");
  const EmailTaskId waiting = take("<4@x>");
  const auto errand_task = [&](const EmailTaskId& id) {
    return TaskId::from_string(load(id).task_id.value());
  };
  const TaskId stopped = errand_task(cancelled);
  app.engine().queue().cancel({&stopped, 1});
  app.engine().storage().remove(errand_task(gone));
  under_test->execute(
      "UPDATE async_tasks SET status = 'failed', started_at = submitted_at, completed_at = "
      "submitted_at, error = '{\"class\":\"errand::WorkerLost\",\"message\":\"lost 3 times\"}' "
      "WHERE task_id = '" +
      errand_task(poison).to_string() + "'");
  EXPECT_EQ(settle_lost_tasks(*database, app.engine(), 0s, silent_logger()), 3U);
  EXPECT_EQ(load(cancelled).status, EmailTaskStatus::cancelled);
  EXPECT_EQ(load(gone).status, EmailTaskStatus::retrying);
  EXPECT_EQ(load(poison).status, EmailTaskStatus::failed);
  EXPECT_FALSE(load(poison).can_retry()) << "it would kill more workers";
  EXPECT_THAT(load(poison).error_message.value(), HasSubstr("3 times"));
  EXPECT_EQ(load(waiting).status, EmailTaskStatus::pending);
  EXPECT_EQ(settle_lost_tasks(*database, app.engine(), 0s, silent_logger()), 0U);
  report.attachments = {attachment("a.xml", {invoice("25442000000012341234")})};
  drain();
  EXPECT_EQ(load(gone).status, EmailTaskStatus::completed);
}

TEST_P(ProcessingTest, ATaskWhoseErrandTaskIsGoneIsLost) {
  const EmailTaskId id = take();
  EXPECT_FALSE(is_lost(app.engine(), load(id)));
  const TaskId errand_task = TaskId::from_string(load(id).task_id.value());
  app.engine().queue().cancel({&errand_task, 1});
  EmailProcessingTask task = load(id);
  EXPECT_TRUE(is_lost(app.engine(), task));
  fail_lost(task, task.created_at);
  EXPECT_TRUE(task.can_retry());
}

TEST_P(ProcessingTest, WhatAColumnCannotHoldIsLeftOutWithAWarning) {
  ExtractedInvoice strange = invoice("25442000000012341234");
  strange.issue_date = Field{"2025-02-31", Source::ocr, 0.4};
  strange.total = Field{"1,2.3.4", Source::ocr, 0.4};
  strange.seller_name = Field{std::string{"a\0b\xff", 4}, Source::ocr, 0.4};
  report.attachments = {attachment("a.png", {strange})};
  take();
  drain();
  const Invoice found = stored().at(0);
  EXPECT_EQ(found.issue_date, std::nullopt);
  EXPECT_EQ(found.total, std::nullopt);
  EXPECT_EQ(found.seller_name, "a b\xef\xbf\xbd");
  EXPECT_THAT(found.warnings, HasSubstr("2025-02-31"));
}

INSTANTIATE_TEST_SUITE_P(Invoices, ProcessingTest, ::testing::ValuesIn(kDatabaseMakers),
                         maker_name);

}  // namespace
}  // namespace errand::invoices
