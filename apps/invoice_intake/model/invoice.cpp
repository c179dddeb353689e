#include "invoice_intake/model/invoice.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <chrono>
#include <cmath>

#include "errand/codec.hpp"

#include "invoice_intake/extraction/money.hpp"
#include "invoice_intake/model/stored_text.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

/// No name, address or remark is longer; what is longer was not read but made up.
constexpr std::size_t kLongestText = 4000;

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto read = [&](std::size_t begin, std::size_t end, auto& number) {
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, number);
    return error == std::errc{} && rest == text.data() + end;
  };
  if (!read(0, 4, year) || !read(5, 7, month) || !read(8, 10, day)) return false;
  return year > 0 && std::chrono::year_month_day{std::chrono::year{year}, std::chrono::month{month},
                                                 std::chrono::day{day}}
                         .ok();
}

double certainty(double confidence) {
  if (!std::isfinite(confidence)) return 0;
  return std::round(std::clamp(confidence, 0.0, 1.0) * 1000) / 1000;
}

/// Takes over the fields of one invoice, one by one.
class FieldReader {
 public:
  std::optional<std::string> text(const char* name, const std::optional<Field>& field) {
    if (!field) return std::nullopt;
    std::string value = stored_text(field->value, kLongestText);
    if (value.empty()) return std::nullopt;
    add(name, *field);
    return value;
  }

  std::optional<std::string> date(const char* name, const std::optional<Field>& field) {
    if (!field) return std::nullopt;
    if (!is_date(field->value)) return refuse(name, *field, "is not a day of the calendar");
    return text(name, field);
  }

  std::optional<std::string> money(const char* name, const std::optional<Field>& field) {
    if (!field) return std::nullopt;
    const std::optional<Money> amount = Money::parse(field->value);
    if (!amount) return refuse(name, *field, "is not an amount");
    add(name, *field);
    return amount->to_string();
  }

  void warn(std::string warning) { warnings_.emplace_back(stored_text(warning, kLongestText)); }

  [[nodiscard]] std::string fields() const { return json::serialize(fields_); }
  [[nodiscard]] std::string warnings() const { return json::serialize(warnings_); }

 private:
  void add(const char* name, const Field& field) {
    fields_[name] = json::object{{"source", to_string(field.source)},
                                 {"confidence", certainty(field.confidence)}};
  }

  std::optional<std::string> refuse(const char* name, const Field& field, const char* why) {
    warn(std::string{name} + " `" + field.value + "` " + why);
    return std::nullopt;
  }

  json::object fields_;
  json::array warnings_;
};

std::string stored_items(const std::vector<LineItem>& items) {
  std::vector<LineItem> stored = items;
  const auto clean = [](std::optional<std::string>& text) {
    if (text) text = stored_text(*text, kLongestText);
  };
  for (LineItem& item : stored) {
    item.name = stored_text(item.name, kLongestText);
    clean(item.specification);
    clean(item.unit);
    clean(item.quantity);
    clean(item.unit_price);
    clean(item.amount);
    clean(item.tax_rate);
    clean(item.tax);
    item.confidence = certainty(item.confidence);
  }
  return encode(stored);
}

}  // namespace

Invoice make_invoice(const UserId& user, const EmailTaskId& task, const ExtractedInvoice& found,
                     const AttachmentReport& attachment) {
  FieldReader read;
  Invoice invoice{.user_id = user};
  invoice.email_task_id = task;
  invoice.invoice_type = read.text("invoice_type", found.invoice_type);
  invoice.invoice_code = read.text("invoice_code", found.code);
  invoice.invoice_number = read.text("invoice_number", found.number).value_or("");
  invoice.issue_date = read.date("issue_date", found.issue_date);
  invoice.seller_name = read.text("seller_name", found.seller_name);
  invoice.seller_tax_id = read.text("seller_tax_id", found.seller_tax_id);
  invoice.buyer_name = read.text("buyer_name", found.buyer_name);
  invoice.buyer_tax_id = read.text("buyer_tax_id", found.buyer_tax_id);
  invoice.amount = read.money("amount", found.amount);
  invoice.tax = read.money("tax", found.tax);
  invoice.total = read.money("total", found.total);
  invoice.total_in_capitals = read.text("total_in_capitals", found.total_in_capitals);
  invoice.check_code = read.text("check_code", found.check_code);
  invoice.drawer = read.text("drawer", found.drawer);
  invoice.remark = read.text("remark", found.remark);
  for (const std::string& warning : found.warnings) read.warn(warning);
  invoice.line_items = stored_items(found.items);
  invoice.fields = read.fields();
  invoice.warnings = read.warnings();
  invoice.confidence = certainty(found.confidence);
  invoice.attachment_path = stored_text(attachment.path, kLongestText);
  invoice.attachment_sha256 = attachment.sha256;
  return invoice;
}

}  // namespace errand::invoices
