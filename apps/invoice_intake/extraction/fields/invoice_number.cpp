#include "invoice_intake/extraction/fields/invoice_number.hpp"

#include <algorithm>
#include <array>

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

/// The first two digits of GB/T 2260, which tax offices share: 11 Beijing … 65 Xinjiang.
bool is_region(std::string_view digits) {
  constexpr std::array<std::string_view, 31> kRegions{
      "11", "12", "13", "14", "15", "21", "22", "23", "31", "32", "33",
      "34", "35", "36", "37", "41", "42", "43", "44", "45", "46", "50",
      "51", "52", "53", "54", "61", "62", "63", "64", "65"};
  return std::find(kRegions.begin(), kRegions.end(), digits) != kRegions.end();
}

}  // namespace

bool is_digital_number(std::string_view text) noexcept {
  return text.size() == 20 && is_all_digits(text) && text.substr(0, 2) >= "21" &&
         text.substr(0, 2) <= "60" && is_region(text.substr(2, 2));
}

bool is_coded_number(std::string_view text) noexcept {
  return text.size() == 8 && is_all_digits(text);
}

bool is_invoice_code(std::string_view text) noexcept {
  if (!is_all_digits(text)) return false;
  if (text.size() == 12) return text.front() == '0' || text.front() == '1';
  return text.size() == 10;
}

bool is_digital_type(std::string_view type) noexcept {
  return type == "31" || type == "32" || type == "51" || type == "61" || type == "59";
}

}  // namespace errand::invoices
