#include "invoice_intake/commands/csv.hpp"

namespace errand::invoices {
namespace {

bool is_formula(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] == '=' || text[0] == '+' || text[0] == '@' || text[0] == '\t') return true;
  return text[0] == '-' && text.find_first_not_of("0123456789.", 1) != std::string_view::npos;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell{is_formula(text) ? "'" : ""};
  cell += text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string excel_cell(std::string_view text) {
  const bool is_digits =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_digits) return csv_cell(text);
  return "\"=\"\"" + std::string{text} + "\"\"\"";
}

}  // namespace errand::invoices
