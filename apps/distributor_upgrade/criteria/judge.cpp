#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "distributor_upgrade/criteria/criteria.hpp"

namespace errand::distributors {
namespace {

using Part = Criteria::Part;
using Kind = Criteria::Part::Kind;

bool compare(Kind kind, const Decimal& left, const Decimal& right) {
  switch (kind) {
    case Kind::at_least:
      return left >= right;
    case Kind::more:
      return left > right;
    case Kind::at_most:
      return left <= right;
    case Kind::less:
      return left < right;
    case Kind::equal:
      return left == right;
    default:
      return left != right;
  }
}

std::string sign_of(Kind kind) {
  switch (kind) {
    case Kind::at_least:
      return ">=";
    case Kind::more:
      return ">";
    case Kind::at_most:
      return "<=";
    case Kind::less:
      return "<";
    case Kind::equal:
      return "=";
    default:
      return "!=";
  }
}

std::optional<Decimal> calculate(Kind kind, const Decimal& left, const Decimal& right) {
  switch (kind) {
    case Kind::sum:
      return left.plus(right);
    case Kind::difference:
      return left.minus(right);
    default:
      return left.times(right);
  }
}

}  // namespace

Decimal Criteria::value(const Part& part, const Figures& figures) const {
  if (part.kind == Kind::number) return part.number;
  if (part.kind == Kind::figure) return figures[part.figure];
  const Decimal left = value(parts_[part.left], figures);
  if (part.kind == Kind::negation) return left.negated();
  const Decimal right = value(parts_[part.right], figures);
  const std::optional<Decimal> result = calculate(part.kind, left, right);
  if (!result) {
    throw RuleException{fmt::format(
        "`{}` is a number of more than {} digits, or {} behind the "
        "point",
        text_.substr(part.begin, part.end - part.begin), Decimal::kMaxDigits, Decimal::kMaxPlaces)};
  }
  return *result;
}

bool Criteria::truth(const Part& part, const Figures& figures,
                     std::vector<Finding>* findings) const {
  if (part.kind == Kind::opposite) return !truth(parts_[part.left], figures, findings);
  if (!part.is_comparison()) {
    const bool left = truth(parts_[part.left], figures, findings);
    const bool right = truth(parts_[part.right], figures, findings);
    return part.kind == Kind::all_of ? left && right : left || right;
  }
  const Decimal left = value(parts_[part.left], figures);
  const Decimal right = value(parts_[part.right], figures);
  const bool holds = compare(part.kind, left, right);
  if (findings != nullptr) {
    findings->push_back({.text = text_.substr(part.begin, part.end - part.begin),
                         .left = left,
                         .comparison = sign_of(part.kind),
                         .right = right,
                         .holds = holds});
  }
  return holds;
}

bool Criteria::ask_about(Figure figure) const noexcept {
  return std::ranges::any_of(
      parts_, [&](const Part& part) { return part.kind == Kind::figure && part.figure == figure; });
}

Verdict Criteria::judge(const Figures& figures) const {
  Verdict verdict;
  verdict.holds = truth(parts_[root_], figures, &verdict.findings);
  return verdict;
}

bool Criteria::hold(const Figures& figures) const { return truth(parts_[root_], figures, nullptr); }

}  // namespace errand::distributors
