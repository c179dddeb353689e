#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/criteria/tokens.hpp"
#include "terminal/nearest.hpp"

namespace errand::distributors {

using Part = Criteria::Part;

namespace {

struct Sign {
  std::string_view sign;
  Part::Kind kind;
};

constexpr std::array kComparisons{Sign{">=", Part::Kind::at_least}, Sign{">", Part::Kind::more},
                                  Sign{"<=", Part::Kind::at_most},  Sign{"<", Part::Kind::less},
                                  Sign{"=", Part::Kind::equal},     Sign{"==", Part::Kind::equal},
                                  Sign{"!=", Part::Kind::different}};

const Sign* comparison_of(const Token& token) {
  for (const Sign& comparison : kComparisons) {
    if (token.is(comparison.sign)) return &comparison;
  }
  return nullptr;
}

}  // namespace

/// Recursive descent; each rule is a function, from what binds loosest to what binds tightest.
class CriteriaParser {
 public:
  explicit CriteriaParser(Criteria& criteria)
      : criteria_{criteria}, tokens_{cut_into_tokens(criteria.text_)} {}

  void run() {
    if (token().kind == Token::Kind::end) {
      refuse(token(), "the criteria are empty; write for example withdrawn_total >= 5000");
    }
    const std::uint16_t root = any_of();
    if (token().is(")")) refuse(token(), "nothing opened this parenthesis");
    if (token().kind != Token::Kind::end) {
      refuse(token(), fmt::format("`{}` follows without `and` or `or`", token().text));
    }
    require_condition(root, "criteria are a condition, such as withdrawn_total >= 5000");
    criteria_.root_ = root;
  }

 private:
  std::uint16_t any_of() {
    return joined("or", Part::Kind::any_of, [this] { return all_of(); });
  }
  std::uint16_t all_of() {
    return joined("and", Part::Kind::all_of, [this] { return opposite(); });
  }

  template <class Operand>
  std::uint16_t joined(std::string_view word, Part::Kind kind, Operand operand) {
    std::uint16_t left = operand();
    while (token().is(word)) {
      const std::string needs =
          fmt::format("`{}` joins two conditions, such as team_size >= 10", word);
      require_condition(left, needs);
      advance();
      const std::uint16_t right = operand();
      require_condition(right, needs);
      left = add(kind, left, right);
    }
    return left;
  }

  std::uint16_t opposite() {
    if (!token().is("not")) return comparison();
    const Token& word = advance();
    const Deeper deeper{*this, word};
    const std::uint16_t operand = opposite();
    require_condition(operand, "`not` stands before a condition: not (team_size < 10)");
    Part part{.kind = Part::Kind::opposite, .left = operand};
    part.begin = word.begin;
    part.end = criteria_.parts_[operand].end;
    return add(part);
  }

  std::uint16_t comparison() {
    const std::uint16_t left = sum();
    const Sign* sign = comparison_of(token());
    if (sign == nullptr) return left;
    const std::string needs = fmt::format("`{}` compares numbers", sign->sign);
    require_number(left, needs);
    advance();
    const std::uint16_t right = sum();
    require_number(right, needs);
    if (comparison_of(token()) != nullptr) {
      refuse(token(), "comparisons do not chain; write 10 <= team_size and team_size <= 20");
    }
    return add(sign->kind, left, right);
  }

  std::uint16_t sum() {
    std::uint16_t left = product();
    while (token().is("+") || token().is("-")) {
      const Token& sign = advance();
      left = calculated(sign, sign.is("+") ? Part::Kind::sum : Part::Kind::difference, left,
                        product());
    }
    return left;
  }

  std::uint16_t product() {
    std::uint16_t left = negation();
    while (token().is("*")) {
      const Token& sign = advance();
      left = calculated(sign, Part::Kind::product, left, negation());
    }
    return left;
  }

  std::uint16_t calculated(const Token& sign, Part::Kind kind, std::uint16_t left,
                           std::uint16_t right) {
    const std::string needs = fmt::format("`{}` calculates with numbers", sign.text);
    require_number(left, needs);
    require_number(right, needs);
    return add(kind, left, right);
  }

  std::uint16_t negation() {
    if (!token().is("-")) return primary();
    const Token& sign = advance();
    const Deeper deeper{*this, sign};
    const std::uint16_t operand = negation();
    require_number(operand, "`-` stands before a number");
    Part part{.kind = Part::Kind::negation, .left = operand};
    part.begin = sign.begin;
    part.end = criteria_.parts_[operand].end;
    return add(part);
  }

  std::uint16_t primary() {
    const Token& first = token();
    if (first.is("(")) return in_parentheses();
    Part part{.kind = Part::Kind::number};
    part.begin = first.begin;
    part.end = first.past();
    if (first.kind == Token::Kind::number) {
      part.number = first.number;
    } else if (first.kind == Token::Kind::name) {
      part.kind = Part::Kind::figure;
      part.figure = figure_named(first);
    } else {
      refuse(first, first.kind == Token::Kind::end
                        ? std::string{"a figure or a number is missing at the end"}
                        : fmt::format("a figure or a number is missing before `{}`", first.text));
    }
    advance();
    return add(part);
  }

  std::uint16_t in_parentheses() {
    const Token& open = advance();
    const Deeper deeper{*this, open};
    const std::uint16_t inner = any_of();
    if (!token().is(")")) {
      if (token().kind == Token::Kind::end) refuse(open, "nothing closes this parenthesis");
      refuse(token(), fmt::format("`{}` follows without `and`, `or` or `)`", token().text));
    }
    // What is shown of a part includes the parentheses around it.
    criteria_.parts_[inner].begin = open.begin;
    criteria_.parts_[inner].end = advance().past();
    return inner;
  }

  [[nodiscard]] Figure figure_named(const Token& name) const {
    if (const auto figure = find_figure(name.text)) return *figure;
    std::vector<std::string> names;
    for (const FigureInfo& figure : kFigures) names.emplace_back(figure.name);
    const auto meant = terminal::nearest(name.text, names);
    refuse(name,
           fmt::format("there is no figure `{}`{}; there are {}", name.text.substr(0, 40),
                       meant ? fmt::format(", did you mean `{}`?", *meant) : "", figure_names()));
  }

  void require_condition(std::uint16_t part, const std::string& needs) const {
    if (criteria_.parts_[part].is_condition()) return;
    refuse_part(part, fmt::format("`{}` is a number; {}", shown(part), needs));
  }

  void require_number(std::uint16_t part, const std::string& needs) const {
    if (!criteria_.parts_[part].is_condition()) return;
    refuse_part(part, fmt::format("`{}` is a condition; {}", shown(part), needs));
  }

  [[nodiscard]] std::string_view shown(std::uint16_t part) const {
    const Part& it = criteria_.parts_[part];
    return std::string_view{criteria_.text_}.substr(it.begin, it.end - it.begin);
  }

  std::uint16_t add(Part::Kind kind, std::uint16_t left, std::uint16_t right) {
    Part part{.kind = kind, .left = left, .right = right};
    part.begin = criteria_.parts_[left].begin;
    part.end = criteria_.parts_[right].end;
    return add(part);
  }

  std::uint16_t add(const Part& part) {
    if (criteria_.parts_.size() == Criteria::kMaxParts) {
      throw CriteriaException{criteria_.text_, part.begin,
                              fmt::format("there are more than {} parts", Criteria::kMaxParts)};
    }
    criteria_.parts_.push_back(part);
    return static_cast<std::uint16_t>(criteria_.parts_.size() - 1);
  }

  /// Bounds the recursion, whatever the text.
  class Deeper {
   public:
    Deeper(CriteriaParser& parser, const Token& at) : parser_{parser} {
      if (++parser_.depth_ > Criteria::kMaxDepth) {
        parser_.refuse(at, fmt::format("it is nested deeper than {}", Criteria::kMaxDepth));
      }
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    CriteriaParser& parser_;
  };

  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  const Token& advance() { return tokens_[at_++]; }

  [[noreturn]] void refuse(const Token& at, const std::string& reason) const {
    throw CriteriaException{criteria_.text_, at.begin, reason};
  }
  [[noreturn]] void refuse_part(std::uint16_t part, const std::string& reason) const {
    throw CriteriaException{criteria_.text_, criteria_.parts_[part].begin, reason};
  }

  Criteria& criteria_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Criteria::Criteria(std::string_view text) : text_{text} {
  if (text.size() > kMaxBytes) {
    throw CriteriaException{
        "", 0, fmt::format("they have {} bytes; {} are the most", text.size(), kMaxBytes)};
  }
  CriteriaParser{*this}.run();
}

CriteriaException::CriteriaException(std::string text, std::size_t position,
                                     const std::string& reason)
    : ValidationException{fmt::format("criteria, at character {}: {}", position + 1, reason)},
      text_{std::move(text)},
      position_{position} {}

}  // namespace errand::distributors
