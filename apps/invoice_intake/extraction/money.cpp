#include "invoice_intake/extraction/money.hpp"

#include <array>
#include <cstdlib>

namespace errand::invoices {
namespace {

constexpr std::array<std::string_view, 3> kYuanSigns{"¥", "￥", "CNY"};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void skip_spaces(std::string_view& text) {
  while (take(text, " ")) {
  }
}

bool take_minus(std::string_view& text) {
  return take(text, "-") || take(text, "−") || take(text, "－");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Money> Money::parse(std::string_view text) noexcept {
  skip_spaces(text);
  while (text.ends_with(' ')) text.remove_suffix(1);
  bool negative = false;
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    text = text.substr(1, text.size() - 2);
    negative = true;
  }
  if (take_minus(text)) {
    if (negative) return std::nullopt;
    negative = true;
  }
  for (const std::string_view sign : kYuanSigns) {
    if (take(text, sign)) break;
  }
  skip_spaces(text);
  if (!negative) negative = take_minus(text);

  std::int64_t yuan = 0;
  int digits_since_comma = -1;  // −1: no comma yet
  bool any_digit = false;
  while (!text.empty() && (is_digit(text.front()) || text.front() == ',')) {
    if (text.front() == ',') {
      if (!any_digit || (digits_since_comma != -1 && digits_since_comma != 3)) return std::nullopt;
      digits_since_comma = 0;
    } else {
      any_digit = true;
      if (digits_since_comma >= 0) ++digits_since_comma;
      yuan = yuan * 10 + (text.front() - '0');
      if (yuan > kMaxFen / 100) return std::nullopt;
    }
    text.remove_prefix(1);
  }
  if (!any_digit || (digits_since_comma != -1 && digits_since_comma != 3)) return std::nullopt;

  std::int64_t fen = 0;
  if (take(text, ".")) {
    if (text.empty()) return std::nullopt;
    for (std::int64_t weight = 10; !text.empty(); weight /= 10, text.remove_prefix(1)) {
      if (!is_digit(text.front())) return std::nullopt;
      const int digit = text.front() - '0';
      if (weight == 0 && digit != 0) return std::nullopt;
      fen += digit * weight;
    }
  }
  if (!text.empty()) return std::nullopt;
  const std::int64_t value = yuan * 100 + fen;
  if (value > kMaxFen) return std::nullopt;
  return from_fen(negative ? -value : value);
}

std::string Money::to_string() const {
  const std::int64_t magnitude = std::abs(fen_);
  std::string text = fen_ < 0 ? "-" : "";
  text += std::to_string(magnitude / 100);
  text += '.';
  text += static_cast<char>('0' + magnitude / 10 % 10);
  text += static_cast<char>('0' + magnitude % 10);
  return text;
}

}  // namespace errand::invoices
