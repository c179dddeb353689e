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

Finding::Kind finding_kind(Kind kind) {
  switch (kind) {
    case Kind::all_of:
      return Finding::Kind::all_of;
    case Kind::any_of:
      return Finding::Kind::any_of;
    case Kind::opposite:
      return Finding::Kind::opposite;
    default:
      return Finding::Kind::comparison;
  }
}

std::string shown(const Decimal& number, bool money) {
  const auto cents = money ? number.to_cents() : std::nullopt;
  return cents ? money_text(*cents) : number.to_string();
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

bool Criteria::is_about_money(const Part& part) const {
  if (part.kind == Kind::number) return false;
  if (part.kind == Kind::figure) return info(part.figure).money;
  if (is_about_money(parts_[part.left])) return true;
  return part.kind != Kind::negation && is_about_money(parts_[part.right]);
}

bool Criteria::holds(const Part& comparison, const Figures& figures, Finding* finding) const {
  const Decimal left = value(parts_[comparison.left], figures);
  const Decimal right = value(parts_[comparison.right], figures);
  const bool holds = compare(comparison.kind, left, right);
  if (finding == nullptr) return holds;
  const bool money = is_about_money(comparison);
  finding->text = text_.substr(comparison.begin, comparison.end - comparison.begin);
  finding->left = shown(left, money);
  finding->comparison = sign_of(comparison.kind);
  finding->right = shown(right, money);
  const bool wants_more = comparison.kind == Kind::at_least || comparison.kind == Kind::more;
  if (!holds && wants_more && left != right) {
    if (const auto missing = right.minus(left)) finding->missing = shown(*missing, money);
  }
  return holds;
}

bool Criteria::truth(const Part& part, const Figures& figures, Account account) const {
  std::vector<Finding>* findings = account.findings;
  const bool opens_group = findings != nullptr && !part.is_comparison() &&
                           (part.kind == Kind::opposite || part.kind != account.group);
  const std::size_t place = findings != nullptr ? findings->size() : 0;
  if (opens_group || (findings != nullptr && part.is_comparison())) {
    findings->push_back({.kind = finding_kind(part.kind), .depth = account.depth});
  }
  if (part.is_comparison()) {
    const bool result = holds(part, figures, findings != nullptr ? &findings->back() : nullptr);
    if (findings != nullptr) findings->back().holds = result;
    return result;
  }
  account.group = part.kind;
  if (opens_group) ++account.depth;
  bool result = truth(parts_[part.left], figures, account);
  if (part.kind == Kind::opposite) {
    result = !result;
  } else {
    const bool right = truth(parts_[part.right], figures, account);
    result = part.kind == Kind::all_of ? result && right : result || right;
  }
  if (opens_group) (*findings)[place].holds = result;
  return result;
}

bool Criteria::ask_about(Figure figure) const noexcept {
  return std::ranges::any_of(
      parts_, [&](const Part& part) { return part.kind == Kind::figure && part.figure == figure; });
}

Verdict Criteria::judge(const Figures& figures) const {
  Verdict verdict;
  verdict.holds = truth(parts_[root_], figures, Account{.findings = &verdict.findings});
  return verdict;
}

bool Criteria::hold(const Figures& figures) const {
  return truth(parts_[root_], figures, Account{});
}

}  // namespace errand::distributors
