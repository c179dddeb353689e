#include "invoice_intake/extraction/fields/qr_payload.hpp"

#include <map>
#include <vector>

#include "invoice_intake/extraction/fields/calendar_date.hpp"
#include "invoice_intake/extraction/fields/invoice_number.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kMaxPayload = 2048;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Code and number must be a pair that exists: both, or a digital number alone.
bool is_identity(std::string_view code, std::string_view number) {
  if (code.empty()) return is_digital_number(number);
  return is_invoice_code(code) && is_coded_number(number);
}

std::string check_code_or_nothing(const std::string& text) {
  return is_all_digits(text) && (text.size() == 20 || text.size() == 6 || text.size() == 5) ? text
                                                                                            : "";
}

std::optional<QrPayload> parse_list(std::string_view text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() < 6 || parts[0] != "01") return std::nullopt;
  if (parts[1].size() != 2 || !is_all_digits(parts[1])) return std::nullopt;
  if (!is_identity(parts[2], parts[3])) return std::nullopt;
  QrPayload payload;
  payload.type = parts[1];
  payload.code = parts[2];
  payload.number = parts[3];
  payload.amount = Money::parse(parts[4]);
  payload.issue_date = parse_calendar_date(parts[5]);
  if (parts.size() > 6) payload.check_code = check_code_or_nothing(parts[6]);
  return payload;
}

std::optional<QrPayload> parse_url(std::string_view text) {
  const std::size_t question = text.find('?');
  if (question == std::string_view::npos) return std::nullopt;
  std::map<std::string, std::string, std::less<>> values;
  for (const std::string& pair : split(text.substr(question + 1), '&')) {
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos) values[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (!is_identity(values["fpdm"], values["fphm"])) return std::nullopt;
  QrPayload payload;
  payload.code = values["fpdm"];
  payload.number = values["fphm"];
  payload.amount = Money::parse(values["kjje"]);
  payload.issue_date = parse_calendar_date(values["kprq"]);
  payload.check_code = check_code_or_nothing(values["jym"]);
  return payload;
}

}  // namespace

std::optional<QrPayload> parse_qr_payload(std::string_view text) {
  if (text.size() > kMaxPayload) return std::nullopt;
  const std::string plain = without_blanks(text);
  if (plain.starts_with("http://") || plain.starts_with("https://")) return parse_url(plain);
  return parse_list(plain);
}

}  // namespace errand::invoices
