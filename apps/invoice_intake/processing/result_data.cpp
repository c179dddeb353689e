#include "invoice_intake/processing/result_data.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdlib>

#include "errand/codec.hpp"

#include "invoice_intake/model/stored_text.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestMessage = 2000;
constexpr std::size_t kLongestPath = 1000;

enum class Status { success, duplicate, failed, ignored };

/// A failed attachment stays failed although invoices were found before it broke off.
Status status_of(const AttachmentOutcome& attachment) {
  if (attachment.report->status == AttachmentStatus::failed) return Status::failed;
  if (attachment.invoices.empty()) return Status::ignored;
  const bool any_new = std::ranges::any_of(attachment.invoices, &InvoiceOutcome::is_new);
  return any_new ? Status::success : Status::duplicate;
}

const char* word_of(Status status) {
  switch (status) {
    case Status::success:
      return "success";
    case Status::duplicate:
      return "duplicate";
    case Status::failed:
      return "failed";
    case Status::ignored:
      return "ignored";
  }
  return "failed";
}

double seconds(std::int64_t milliseconds) { return static_cast<double>(milliseconds) / 1000; }

/// As a number, which the seed of this format shows; the exact one is in the invoice's row.
json::value number(const std::optional<std::string>& amount) {
  if (!amount) return nullptr;
  return std::strtod(amount->c_str(), nullptr);
}

json::object describe(const AttachmentOutcome& attachment) {
  const AttachmentReport& report = *attachment.report;
  json::object entry{{"filename", stored_text(report.name, kLongestPath)},
                     {"path", stored_text(report.path, kLongestPath)},
                     {"content_type", stored_text(report.media_type, kLongestPath)},
                     {"size", report.size},
                     {"status", word_of(status_of(attachment))}};
  if (attachment.unreached) entry["unreached"] = true;
  if (!attachment.invoices.empty()) {
    entry["invoice_id"] = attachment.invoices.front().invoice.id.text();
    entry["confidence"] = attachment.invoices.front().invoice.confidence;
  }
  if (attachment.invoices.size() > 1) {
    json::array ids;
    for (const InvoiceOutcome& outcome : attachment.invoices) {
      ids.push_back(json::string{outcome.invoice.id.text()});
    }
    entry["invoice_ids"] = std::move(ids);
  }
  if (report.error) {
    entry["error"] = stored_text(report.error->message, kLongestMessage);
    entry["error_code"] = stored_text(report.error->code, kLongestMessage);
    entry["retryable"] = report.error->retryable;
  }
  if (report.reason) entry["reason"] = stored_text(*report.reason, kLongestMessage);
  entry["processing_time"] = seconds(report.milliseconds.total);
  entry["stages"] = json::object{{"text", seconds(report.milliseconds.text)},
                                 {"render", seconds(report.milliseconds.render)},
                                 {"qr", seconds(report.milliseconds.qr)},
                                 {"ocr", seconds(report.milliseconds.ocr)}};
  return entry;
}

}  // namespace

Summary summarise(const std::vector<AttachmentOutcome>& attachments) {
  Summary summary;
  summary.total_attachments = static_cast<int>(attachments.size());
  for (const AttachmentOutcome& attachment : attachments) {
    switch (status_of(attachment)) {
      case Status::failed:
        ++summary.failed;
        break;
      case Status::ignored:
        ++summary.ignored;
        break;
      default:
        ++summary.succeeded;
    }
    for (const InvoiceOutcome& outcome : attachment.invoices) {
      ++(outcome.is_new ? summary.invoices_created : summary.duplicates);
    }
  }
  summary.processed = summary.succeeded + summary.failed;
  return summary;
}

std::string result_data_json(const std::vector<AttachmentOutcome>& attachments,
                             const ProcessingDetails& details) {
  const Summary summary = summarise(attachments);
  json::array entries;
  json::array invoices;
  for (const AttachmentOutcome& attachment : attachments) {
    entries.push_back(describe(attachment));
    for (const auto& [invoice, is_new] : attachment.invoices) {
      if (!is_new) continue;
      json::object entry{{"id", invoice.id.text()},
                         {"invoice_number", invoice.invoice_number},
                         {"amount", number(invoice.total)},
                         {"seller_name", nullptr}};
      if (invoice.seller_name) entry["seller_name"] = *invoice.seller_name;
      invoices.push_back(std::move(entry));
    }
  }
  const auto total =
      std::chrono::duration_cast<std::chrono::milliseconds>(details.end_time - details.start_time);
  return encode(json::value(json::object{
      {"summary", json::object{{"total_attachments", summary.total_attachments},
                               {"processed", summary.processed},
                               {"succeeded", summary.succeeded},
                               {"failed", summary.failed},
                               {"ignored", summary.ignored},
                               {"skipped_duplicates", summary.duplicates},
                               {"invoices_created", summary.invoices_created}}},
      {"attachments", std::move(entries)},
      {"invoices", std::move(invoices)},
      {"processing_details", json::object{{"start_time", to_iso8601(details.start_time)},
                                          {"end_time", to_iso8601(details.end_time)},
                                          {"total_time", seconds(total.count())},
                                          // The key is the format's; the id is the Errand task's.
                                          {"celery_task_id", details.errand_task}}},
  }));
}

}  // namespace errand::invoices
