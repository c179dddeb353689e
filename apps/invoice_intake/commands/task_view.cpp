#include "invoice_intake/commands/task_view.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/ostream.h>
#include <ostream>

#include "errand/codec.hpp"
#include "errand/json.hpp"

#include "terminal/display.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

json::value optional_text(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  return json::string{*text};
}

json::value optional_time(const std::optional<Timestamp>& time) {
  if (!time) return nullptr;
  return json::string{to_iso8601(*time)};
}

json::object task_object(const EmailProcessingTask& task) {
  json::object object{{"id", task.id.text()},
                      {"user_id", task.user_id.text()},
                      {"task_type", to_string(task.task_type)},
                      {"task_id", optional_text(task.task_id)},
                      {"status", to_string(task.status)},
                      {"email_from", optional_text(task.email_from)},
                      {"email_subject", optional_text(task.email_subject)},
                      {"attachments_count", task.attachments_count},
                      {"processed_count", task.processed_count},
                      {"failed_count", task.failed_count},
                      {"invoices_created", task.invoices_created},
                      {"error_message", optional_text(task.error_message)},
                      {"retry_count", task.retry_count},
                      {"can_retry", task.can_retry()},
                      {"started_at", optional_time(task.started_at)},
                      {"completed_at", optional_time(task.completed_at)},
                      {"processing_time_seconds", nullptr},
                      {"created_at", to_iso8601(task.created_at)},
                      {"updated_at", to_iso8601(task.updated_at)}};
  if (task.processing_time) {
    object["processing_time_seconds"] = static_cast<double>(task.processing_time->count()) / 1000;
  }
  return object;
}

json::object invoice_object(const Invoice& invoice) {
  return {{"id", invoice.id.text()},
          {"user_id", invoice.user_id.text()},
          {"email_task_id", invoice.email_task_id
                                ? json::value(json::string{invoice.email_task_id->text()})
                                : json::value(nullptr)},
          {"invoice_type", optional_text(invoice.invoice_type)},
          {"invoice_code", optional_text(invoice.invoice_code)},
          {"invoice_number", invoice.invoice_number},
          {"issue_date", optional_text(invoice.issue_date)},
          {"seller_name", optional_text(invoice.seller_name)},
          {"seller_tax_id", optional_text(invoice.seller_tax_id)},
          {"buyer_name", optional_text(invoice.buyer_name)},
          {"buyer_tax_id", optional_text(invoice.buyer_tax_id)},
          {"amount", optional_text(invoice.amount)},
          {"tax", optional_text(invoice.tax)},
          {"total", optional_text(invoice.total)},
          {"total_in_capitals", optional_text(invoice.total_in_capitals)},
          {"check_code", optional_text(invoice.check_code)},
          {"drawer", optional_text(invoice.drawer)},
          {"remark", optional_text(invoice.remark)},
          {"line_items", parse_json(invoice.line_items)},
          {"fields", parse_json(invoice.fields)},
          {"confidence", invoice.confidence},
          {"warnings", parse_json(invoice.warnings)},
          {"attachment_path", optional_text(invoice.attachment_path)},
          {"attachment_sha256", optional_text(invoice.attachment_sha256)},
          {"created_at", to_iso8601(invoice.created_at)}};
}

template <class Page>
json::value page_value(const Page& page, json::array items) {
  return json::object{{"items", std::move(items)},
                      {"total", page.total},
                      {"page", page.page},
                      {"page_size", page.page_size},
                      {"total_pages", page.total_pages()}};
}

std::string seconds(const std::optional<std::chrono::milliseconds>& time) {
  return time ? terminal::format_span(*time) : "-";
}

/// `3/4`: of four processed, three succeeded.
std::string ratio(const EmailProcessingTask& task) {
  if (task.processed_count == 0) return "-";
  return fmt::format("{}/{}", task.processed_count - task.failed_count, task.processed_count);
}

/// `2 +1 known`: two are new, one was there already.
std::string invoice_count(const EmailProcessingTask& task) {
  const json::value result = parse_json(task.result_data);
  const json::value* known = nullptr;
  if (const json::object* document = result.if_object()) {
    if (const json::value* summary = document->if_contains("summary");
        summary != nullptr && summary->is_object()) {
      known = summary->get_object().if_contains("skipped_duplicates");
    }
  }
  if (known == nullptr || !known->is_int64() || known->get_int64() == 0) {
    return std::to_string(task.invoices_created);
  }
  return fmt::format("{} +{} known", task.invoices_created, known->get_int64());
}

/// Why it failed; of a task that is completed, what in it did.
std::string trouble(const EmailProcessingTask& task) {
  if (task.error_message) return *task.error_message;
  if (task.failed_count == 0) return "";
  return fmt::format("{} of {} attachments failed", task.failed_count, task.processed_count);
}

std::string member(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return "";
  if (value->is_string()) return std::string{value->get_string()};
  return encode(*value);
}

void print_attachments(terminal::Console& console, const EmailProcessingTask& task) {
  const json::value result = parse_json(task.result_data);
  const json::object* document = result.if_object();
  const json::value* attachments =
      document != nullptr ? document->if_contains("attachments") : nullptr;
  if (attachments == nullptr || !attachments->is_array() || attachments->get_array().empty()) {
    return;
  }
  fmt::print(console.out, "\n");
  terminal::Table table{{{.title = "ATTACHMENT", .may_shrink = true},
                         {.title = "STATUS"},
                         {.title = "SECONDS", .align = terminal::Column::Align::right},
                         {.title = "SURE", .align = terminal::Column::Align::right},
                         {.title = "WHY", .may_shrink = true}}};
  for (const json::value& value : attachments->get_array()) {
    const json::object* entry = value.if_object();
    if (entry == nullptr) continue;
    const std::string status = member(*entry, "status");
    std::string why = member(*entry, "error");
    if (why.empty()) why = member(*entry, "reason");
    if (status == "duplicate") why = "is there already: invoice " + member(*entry, "invoice_id");
    table.add_row(
        {member(*entry, "path").empty() ? member(*entry, "filename") : member(*entry, "path"),
         {status, status == "failed" ? terminal::Colour::red : terminal::Colour::none},
         member(*entry, "processing_time"),
         member(*entry, "confidence"),
         why});
  }
  table.print(console.out, console.out_screen);
}

}  // namespace

std::string task_json(const EmailProcessingTask& task) {
  return encode(json::value(task_object(task)));
}

std::string task_detail_json(const EmailProcessingTask& task,
                             const std::vector<Invoice>& invoices) {
  json::object object = task_object(task);
  object["task_data"] = parse_json(task.task_data);
  object["result_data"] = parse_json(task.result_data);
  object["error_details"] = task.error_details ? parse_json(*task.error_details) : nullptr;
  object["next_retry_at"] = optional_time(task.next_retry_at);
  json::array list;
  for (const Invoice& invoice : invoices) list.push_back(invoice_object(invoice));
  object["invoices"] = std::move(list);
  return encode(json::value(std::move(object)));
}

std::string task_page_json(const EmailTaskPage& page) {
  json::array items;
  for (const EmailProcessingTask& task : page.items) items.push_back(task_object(task));
  return encode(page_value(page, std::move(items)));
}

std::string invoice_json(const Invoice& invoice) {
  return encode(json::value(invoice_object(invoice)));
}

std::string invoice_page_json(const InvoicePage& page) {
  json::array items;
  for (const Invoice& invoice : page.items) items.push_back(invoice_object(invoice));
  return encode(page_value(page, std::move(items)));
}

terminal::Colour colour_of(EmailTaskStatus status) noexcept {
  switch (status) {
    case EmailTaskStatus::completed:
      return terminal::Colour::green;
    case EmailTaskStatus::failed:
      return terminal::Colour::red;
    case EmailTaskStatus::processing:
      return terminal::Colour::blue;
    case EmailTaskStatus::retrying:
      return terminal::Colour::yellow;
    case EmailTaskStatus::cancelled:
      return terminal::Colour::dim;
    case EmailTaskStatus::pending:
      return terminal::Colour::none;
  }
  return terminal::Colour::none;
}

void print_tasks(terminal::Console& console, const std::vector<EmailProcessingTask>& tasks,
                 Timestamp now) {
  using Align = terminal::Column::Align;
  terminal::Table table{{{.title = "TASK"},
                         {.title = "STATUS"},
                         {.title = "TYPE", .may_drop = true},
                         {.title = "SUBJECT", .may_shrink = true},
                         {.title = "FROM", .may_shrink = true, .may_drop = true},
                         {.title = "READ", .align = Align::right},
                         {.title = "INVOICES", .align = Align::right},
                         {.title = "AGE", .align = Align::right},
                         {.title = "ERROR", .may_shrink = true}}};
  for (const EmailProcessingTask& task : tasks) {
    table.add_row({task.id.text(),
                   {std::string{to_string(task.status)}, colour_of(task.status)},
                   std::string{to_string(task.task_type)},
                   task.email_subject.value_or(""),
                   task.email_from.value_or(""),
                   ratio(task),
                   invoice_count(task),
                   terminal::format_short_age(task.created_at, now),
                   trouble(task)});
  }
  table.print(console.out, console.out_screen);
}

void print_task(terminal::Console& console, const EmailProcessingTask& task,
                const std::vector<Invoice>& invoices) {
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      fmt::print(console.out, "{:<12} {}\n", name, terminal::printable(value));
    }
  };
  const auto moment = [](const std::optional<Timestamp>& time) {
    return time ? to_iso8601(*time) : std::string{};
  };
  line("task", task.id.text());
  line("type", std::string{to_string(task.task_type)});
  line("status", std::string{to_string(task.status)} + (task.deleted_at ? ", deleted" : ""));
  line("errand task", task.task_id.value_or(""));
  line("from", task.email_from.value_or(""));
  line("subject", task.email_subject.value_or(""));
  line("message id", task.email_message_id.value_or(""));
  line("received", moment(task.email_received_at));
  line("created", moment(task.created_at));
  line("started", moment(task.started_at));
  line("ended", moment(task.completed_at));
  line("took", seconds(task.processing_time));
  line("attachments", fmt::format("{}, read {}, failed {}", task.attachments_count,
                                  task.processed_count - task.failed_count, task.failed_count));
  line("retries", fmt::format("{} of {}", task.retry_count, task.max_retries));
  line("next retry", moment(task.next_retry_at));
  line("error", task.error_message.value_or(""));
  print_attachments(console, task);
  if (!invoices.empty()) {
    fmt::print(console.out, "\n");
    print_invoices(console, invoices);
  }
}

void print_invoice(terminal::Console& console, const Invoice& invoice) {
  const json::value fields = parse_json(invoice.fields);
  terminal::Table table{{{.title = "FIELD"},
                         {.title = "VALUE", .may_shrink = true},
                         {.title = "FROM"},
                         {.title = "SURE", .align = terminal::Column::Align::right}}};
  const auto row = [&](const char* name, const std::optional<std::string>& value) {
    if (!value) return;
    std::string source;
    double sure = 0;
    if (const json::value* field =
            fields.is_object() ? fields.get_object().if_contains(name) : nullptr;
        field != nullptr && field->is_object()) {
      source = member(field->get_object(), "source");
      if (const json::value* known = field->get_object().if_contains("confidence");
          known != nullptr && known->is_number()) {
        sure = known->to_number<double>();
      }
    }
    table.add_row({name,
                   *value,
                   source,
                   {fmt::format("{:.2f}", sure),
                    sure < 0.9 ? terminal::Colour::yellow : terminal::Colour::none}});
  };
  row("invoice_type", invoice.invoice_type);
  row("invoice_code", invoice.invoice_code);
  row("invoice_number", invoice.invoice_number);
  row("issue_date", invoice.issue_date);
  row("seller_name", invoice.seller_name);
  row("seller_tax_id", invoice.seller_tax_id);
  row("buyer_name", invoice.buyer_name);
  row("buyer_tax_id", invoice.buyer_tax_id);
  row("amount", invoice.amount);
  row("tax", invoice.tax);
  row("total", invoice.total);
  row("total_in_capitals", invoice.total_in_capitals);
  row("check_code", invoice.check_code);
  row("drawer", invoice.drawer);
  row("remark", invoice.remark);
  fmt::print(console.out, "invoice      {}\n", invoice.id.text());
  if (invoice.email_task_id) {
    fmt::print(console.out, "task         {}\n", invoice.email_task_id->text());
  }
  fmt::print(console.out, "attachment   {}\n",
             terminal::printable(invoice.attachment_path.value_or("-")));
  fmt::print(console.out, "sure         {:.2f}\n\n", invoice.confidence);
  table.print(console.out, console.out_screen);
  const json::value warnings = parse_json(invoice.warnings);
  if (!warnings.is_array()) return;
  for (const json::value& warning : warnings.get_array()) {
    if (!warning.is_string()) continue;
    fmt::print(console.out, "warning: {}\n",
               terminal::printable(std::string_view{warning.get_string()}));
  }
}

void print_invoices(terminal::Console& console, const std::vector<Invoice>& invoices) {
  using Align = terminal::Column::Align;
  terminal::Table table{{{.title = "INVOICE", .may_drop = true},
                         {.title = "NUMBER"},
                         {.title = "CODE", .may_drop = true},
                         {.title = "DATE"},
                         {.title = "SELLER", .may_shrink = true},
                         {.title = "BUYER", .may_shrink = true, .may_drop = true},
                         {.title = "AMOUNT", .align = Align::right},
                         {.title = "TAX", .align = Align::right},
                         {.title = "TOTAL", .align = Align::right},
                         {.title = "SURE", .align = Align::right}}};
  for (const Invoice& invoice : invoices) {
    table.add_row({invoice.id.text(),
                   invoice.invoice_number,
                   invoice.invoice_code.value_or("-"),
                   invoice.issue_date.value_or("-"),
                   invoice.seller_name.value_or("-"),
                   invoice.buyer_name.value_or("-"),
                   invoice.amount.value_or("-"),
                   invoice.tax.value_or("-"),
                   invoice.total.value_or("-"),
                   {fmt::format("{:.2f}", invoice.confidence),
                    invoice.confidence < 0.9 ? terminal::Colour::yellow : terminal::Colour::none}});
  }
  table.print(console.out, console.out_screen);
}

void print_position(terminal::Console& console, std::int64_t page, std::int64_t total_pages,
                    std::int64_t total, const char* what) {
  if (total == 0) {
    fmt::print(console.out, "There are none\n");
    return;
  }
  if (page > total_pages) {
    fmt::print(console.out, "There is no page {}: {} {} are on {} page{}\n", page,
               terminal::format_count(total), what, total_pages, total_pages == 1 ? "" : "s");
    return;
  }
  if (total_pages <= 1) return;
  fmt::print(console.out, "Page {} of {} · {} {}", page, total_pages, terminal::format_count(total),
             what);
  if (page < total_pages) fmt::print(console.out, " · next: --page {}", page + 1);
  fmt::print(console.out, "\n");
}

}  // namespace errand::invoices
