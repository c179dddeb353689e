#include "invoice_intake/extraction/fields/capital_amount.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

/// Both the banking forms and the everyday ones, simplified and traditional.
constexpr std::array<std::string_view, 10> kDigits{"零〇", "壹一",   "贰二貳", "叁三參叄", "肆四",
                                                   "伍五", "陆六陸", "柒七",   "捌八",     "玖九"};

std::optional<int> digit_of(std::string_view character) {
  for (std::size_t digit = 0; digit < kDigits.size(); ++digit) {
    const auto forms = characters_of(kDigits[digit]);
    if (std::find(forms.begin(), forms.end(), character) != forms.end()) {
      return static_cast<int>(digit);
    }
  }
  return std::nullopt;
}

/// Inside a group of four digits.
std::int64_t small_unit(std::string_view character) {
  if (character == "拾" || character == "十") return 10;
  if (character == "佰" || character == "百") return 100;
  if (character == "仟" || character == "千") return 1000;
  return 0;
}

std::int64_t big_unit(std::string_view character) {
  if (character == "万" || character == "萬") return 10'000;
  if (character == "亿" || character == "億") return 100'000'000;
  return 0;
}

bool is_yuan(std::string_view character) {
  return character == "圆" || character == "元" || character == "圓";
}

bool is_ending(std::string_view character) { return character == "整" || character == "正"; }

/// Reads characters left to right; each unit must be smaller than the one before it.
class CapitalReader {
 public:
  bool take(std::string_view character) {
    if (ended_) return false;
    if (const auto digit = digit_of(character)) return take_digit(*digit);
    if (const std::int64_t unit = small_unit(character)) return take_small_unit(unit);
    if (const std::int64_t unit = big_unit(character)) return take_big_unit(unit);
    if (is_yuan(character)) return take_yuan();
    if (character == "角") return take_decimal(10);
    if (character == "分") return take_decimal(1);
    if (is_ending(character)) {
      ended_ = true;
      return yuan_seen_ || fen_unit_ < 100;
    }
    return false;
  }

  [[nodiscard]] std::optional<std::int64_t> fen() const {
    // A digit without its unit is a sign of a character lost.
    if (digit_ > 0 || (!yuan_seen_ && fen_unit_ == 100)) return std::nullopt;
    return total_;
  }

 private:
  bool take_digit(int digit) {
    if (digit_ > 0) return false;
    digit_ = digit;
    return true;
  }

  bool take_small_unit(std::int64_t unit) {
    if (yuan_seen_ || unit >= group_unit_) return false;
    // "拾圆" for ten, as "壹拾圆".
    if (digit_ <= 0) {
      if (unit != 10 || group_ > 0) return false;
      digit_ = 1;
    }
    group_ += digit_ * unit;
    group_unit_ = unit;
    digit_ = 0;
    return true;
  }

  bool take_big_unit(std::int64_t unit) {
    if (yuan_seen_ || unit >= big_unit_) return false;
    close_group();
    if (section_ == 0) return false;
    whole_ += section_ * unit;
    section_ = 0;
    big_unit_ = unit;
    return true;
  }

  bool take_yuan() {
    if (yuan_seen_) return false;
    close_group();
    yuan_seen_ = true;
    total_ = (whole_ + section_) * 100;
    return true;
  }

  bool take_decimal(std::int64_t unit) {
    if (unit >= fen_unit_ || digit_ < 0) return false;
    if (!yuan_seen_ && (whole_ != 0 || section_ != 0 || group_ != 0)) return false;
    total_ += digit_ * unit;
    fen_unit_ = unit;
    digit_ = 0;
    return true;
  }

  void close_group() {
    section_ += group_ + std::max(digit_, 0);
    group_ = 0;
    group_unit_ = 10'000;
    digit_ = 0;
  }

  int digit_ = 0;
  std::int64_t group_ = 0;  ///< below ten thousand
  std::int64_t group_unit_ = 10'000;
  std::int64_t section_ = 0;               ///< the group in front of 亿, 万 or 圆
  std::int64_t big_unit_ = 1'000'000'000;  ///< more than any
  std::int64_t whole_ = 0;                 ///< yuan of what is closed by 亿 or 万
  std::int64_t total_ = 0;                 ///< fen
  std::int64_t fen_unit_ = 100;
  bool yuan_seen_ = false;
  bool ended_ = false;
};

}  // namespace

std::optional<Money> parse_capital_amount(std::string_view text) {
  std::string plain = without_blanks(text);
  bool negative = false;
  for (const std::string_view mark : {"⊗", "ⓧ", "(负数)", "负数", "负", "人民币"}) {
    if (const std::size_t at = plain.find(mark); at != std::string::npos) {
      negative = negative || mark.find("负") != std::string_view::npos;
      plain.erase(at, mark.size());
    }
  }
  CapitalReader reader;
  for (const std::string_view character : characters_of(plain)) {
    if (!reader.take(character)) return std::nullopt;
  }
  const auto fen = reader.fen();
  if (!fen) return std::nullopt;
  return Money::from_fen(negative ? -*fen : *fen);
}

bool is_capital_numeral(std::string_view character) noexcept {
  constexpr std::string_view kAll =
      "零〇壹贰貳叁參叄肆伍陆陸柒捌玖拾佰仟万萬亿億圆元圓角分整正负数()⊗ⓧ";
  return (character.size() >= 3 || character == "(" || character == ")") &&
         kAll.find(character) != std::string_view::npos;
}

}  // namespace errand::invoices
