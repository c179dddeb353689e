#include "invoice_intake/extraction/fields/structured_values.hpp"

#include <algorithm>

#include "invoice_intake/extraction/fields/calendar_date.hpp"
#include "invoice_intake/extraction/fields/capital_amount.hpp"
#include "invoice_intake/extraction/fields/invoice_number.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

/// Longer is not a value of an invoice, but somebody's attempt.
constexpr std::size_t kMaxText = 4000;

bool is_asterisks(std::string_view text) {
  return !text.empty() && text.find_first_not_of('*') == std::string_view::npos;
}

}  // namespace

void set_structured(Reading& reading, FieldName name, std::string_view text) {
  if (text.size() > kMaxText) text = text.substr(0, kMaxText);
  switch (name) {
    case FieldName::number: {
      const std::string number = without_blanks(text);
      if (is_digital_number(number) || is_coded_number(number)) reading.set(name, number);
      return;
    }
    case FieldName::code: {
      const std::string code = without_blanks(text);
      if (is_invoice_code(code)) reading.set(name, code);
      return;
    }
    case FieldName::check_code: {
      const std::string code = without_blanks(text);
      if (is_all_digits(code)) reading.set(name, code);
      return;
    }
    case FieldName::issue_date:
      reading.set(name, parse_calendar_date(text).value_or(""));
      return;
    case FieldName::amount:
    case FieldName::tax:
    case FieldName::total: {
      const std::string plain = without_blanks(text);
      reading.set(name, is_asterisks(plain) ? Money{} : Money::parse(plain));
      return;
    }
    case FieldName::seller_tax_id:
    case FieldName::buyer_tax_id: {
      std::string id = without_blanks(text);
      std::transform(id.begin(), id.end(), id.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      reading.set(name, std::move(id));
      return;
    }
    case FieldName::total_in_capitals: {
      std::string capitals = without_blanks(text);
      while (capitals.starts_with("⊗")) capitals.erase(0, std::string_view{"⊗"}.size());
      if (parse_capital_amount(capitals)) reading.set(name, std::move(capitals));
      return;
    }
    default:
      reading.set(name, plain_text(text));
  }
}

std::string decimal_text(std::string_view text) {
  std::string plain = without_blanks(text);
  std::erase(plain, ',');
  std::string_view rest = plain;
  if (rest.starts_with('-')) rest.remove_prefix(1);
  const std::size_t point = rest.find('.');
  if (!is_all_digits(rest.substr(0, point))) return {};
  if (point != std::string_view::npos && !is_all_digits(rest.substr(point + 1))) return {};
  return plain;
}

std::string tax_rate_text(std::string_view text) {
  const std::string plain = without_blanks(text);
  if (plain.empty() || is_asterisks(plain) || plain.ends_with('%')) {
    return is_asterisks(plain) ? "" : plain;
  }
  const std::string decimal = decimal_text(plain);
  if (decimal.empty() || decimal.size() > 12) return plain;
  // In ten thousandths, so that 0.015 is 1.5%.
  const std::size_t point = decimal.find('.');
  std::string digits = point == std::string::npos ? decimal : decimal.substr(0, point);
  std::string places = point == std::string::npos ? "" : decimal.substr(point + 1);
  places.resize(4, '0');
  if (digits.size() > 3 || digits.starts_with('-')) return plain;
  int rate = std::stoi(digits + places);
  // "13" without a sign is a percentage, too.
  if (rate >= 10'000) rate /= 100;
  std::string percent = std::to_string(rate / 100);
  if (rate % 100 != 0) {
    percent += '.';
    percent += static_cast<char>('0' + rate / 10 % 10);
    if (rate % 10 != 0) percent += static_cast<char>('0' + rate % 10);
  }
  return percent + "%";
}

LineItem structured_item(const ItemElements& elements, Source source,
                         const std::function<std::string(const char*)>& text) {
  const auto given = [](std::string value) {
    return value.empty() ? std::nullopt : std::optional{std::move(value)};
  };
  const auto money = [&](const char* name) -> std::optional<std::string> {
    const auto value = Money::parse(without_blanks(text(name)));
    return value ? std::optional{value->to_string()} : std::nullopt;
  };
  LineItem item;
  item.name = plain_text(text(elements.name));
  item.specification = given(plain_text(text(elements.specification)));
  item.unit = given(plain_text(text(elements.unit)));
  item.quantity = given(decimal_text(text(elements.quantity)));
  item.unit_price = given(decimal_text(text(elements.unit_price)));
  item.amount = money(elements.amount);
  item.tax_rate = given(tax_rate_text(text(elements.tax_rate)));
  item.tax = money(elements.tax);
  item.source = source;
  return item;
}

}  // namespace errand::invoices
