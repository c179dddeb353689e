#include "distributor_upgrade/criteria/tokens.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "distributor_upgrade/criteria/criteria.hpp"

namespace errand::distributors {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// What people write who are used to other languages, and what it is here.
struct Habit {
  std::string_view sign;
  std::string_view advice;
};

constexpr std::array kHabits{
    Habit{"&&", "`&&` is written `and`"},
    Habit{"||", "`||` is written `or`"},
    Habit{"<>", "`<>` is written `!=`"},
    Habit{"=>", "`=>` is written `>=`"},
    Habit{"=<", "`=<` is written `<=`"},
    Habit{"!", "`!` is written `not`"},
    Habit{"/",
          "there is no division, because it is not exact; multiply the other side: "
          "withdrawn_total >= 500 * team_size"},
    Habit{"%", "there is no `%`; write a part as a decimal: 0.25 * withdrawn_total"},
    Habit{",", "numbers are written without commas: 5000"},
    Habit{"\"", "there are no texts to compare with, only figures and numbers"},
    Habit{"'", "there are no texts to compare with, only figures and numbers"},
};

/// Longer ones first: `>=` is not `>` and `=`.
constexpr std::array<std::string_view, 13> kSigns{">=", "<=", "!=", "==", ">", "<", "=",
                                                  "+",  "-",  "*",  "(",  ")", ""};

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_{text} {}

  std::vector<Token> run() {
    while (true) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      tokens_.push_back(next());
      at_ = tokens_.back().past();
    }
    tokens_.push_back({.kind = Token::Kind::end, .begin = text_.size()});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] Token next() const {
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    if (is_letter(text_[at_])) return name();
    return sign();
  }

  template <class Accept>
  [[nodiscard]] std::string_view run_of(Accept accept) const {
    std::size_t end = at_;
    while (end < text_.size() && accept(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  [[nodiscard]] Token number() const {
    const std::string_view digits =
        run_of([](char c) { return is_digit(c) || is_letter(c) || c == '.'; });
    const std::optional<Decimal> value = Decimal::parse(digits);
    if (!value) {
      refuse(
          fmt::format("`{}` is not a number; write digits, and a point if wanted, at most {} "
                      "digits and {} behind the point: 5000 or 0.25",
                      digits.substr(0, 40), Decimal::kMaxDigits, Decimal::kMaxPlaces));
    }
    return {.kind = Token::Kind::number, .text = digits, .begin = at_, .number = *value};
  }

  [[nodiscard]] Token name() const {
    const std::string_view word = run_of([](char c) { return is_letter(c) || is_digit(c); });
    const bool joins = word == "and" || word == "or" || word == "not";
    if (word == "AND" || word == "OR" || word == "NOT") {
      refuse(fmt::format("`{}` is written in small letters", word));
    }
    return {.kind = joins ? Token::Kind::word : Token::Kind::name, .text = word, .begin = at_};
  }

  [[nodiscard]] Token sign() const {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("!=")) {
      for (const Habit& habit : kHabits) {
        if (rest.starts_with(habit.sign)) refuse(std::string{habit.advice});
      }
    }
    const auto* found =
        std::ranges::find_if(kSigns, [&](std::string_view sign) { return rest.starts_with(sign); });
    if (!found->empty()) {
      return {.kind = Token::Kind::sign, .text = rest.substr(0, found->size()), .begin = at_};
    }
    const auto byte = static_cast<unsigned char>(rest.front());
    refuse(byte > ' ' && byte < 0x7f
               ? fmt::format("`{}` has no meaning in criteria", rest.front())
               : std::string{"criteria are plain English letters, digits and signs"});
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw CriteriaException{std::string{text_}, at_, reason};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> cut_into_tokens(std::string_view text) { return Cutter{text}.run(); }

}  // namespace errand::distributors
