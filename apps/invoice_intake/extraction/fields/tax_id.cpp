#include "invoice_intake/extraction/fields/tax_id.hpp"

#include <algorithm>

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKLMNPQRTUWXY";
constexpr std::size_t kLength = 18;

}  // namespace

bool looks_like_tax_id(std::string_view text) noexcept {
  if (text.size() != 15 && text.size() != kLength && text.size() != 20) return false;
  const auto digits = std::count_if(text.begin(), text.end(), is_digit);
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); });
  return plain && digits >= 6;
}

bool tax_id_check_holds(std::string_view text) noexcept {
  if (text.size() != kLength) return false;
  std::size_t sum = 0;
  std::size_t weight = 1;
  for (const char c : text.substr(0, kLength - 1)) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return false;
    sum += value * weight;
    weight = weight * 3 % 31;
  }
  return kAlphabet[(31 - sum % 31) % 31] == text.back();
}

}  // namespace errand::invoices
