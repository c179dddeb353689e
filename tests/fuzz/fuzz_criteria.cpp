// Criteria: whatever text comes, it is understood or refused at a place inside it; what was
// understood comes out the same however one asks.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "distributor_upgrade/criteria/criteria.hpp"
#include "fuzz/invariant.hpp"

namespace {

using errand::distributors::Criteria;
using errand::distributors::CriteriaException;
using errand::distributors::Decimal;
using errand::distributors::Figure;
using errand::distributors::Figures;
using errand::distributors::Finding;
using errand::distributors::RuleException;
using errand::distributors::Verdict;
using errand::fuzz::require;

Figures some_figures() {
  Figures figures;
  figures.set(Figure::withdrawn_total, *Decimal::parse("12345678901234567.89"));
  figures.set(Figure::withdrawal_count, 7);
  figures.set(Figure::team_size, -3);
  return figures;
}

std::optional<Criteria> read(std::string_view text) {
  try {
    return Criteria{text};
  } catch (const CriteriaException& error) {
    require(error.position() <= text.size(), "the position is in the text");
    return std::nullopt;
  }
}

std::optional<Verdict> judged(const Criteria& criteria) {
  try {
    return criteria.judge(some_figures());
  } catch (const RuleException&) {
    return std::nullopt;
  }
}

std::optional<bool> held(const Criteria& criteria) {
  try {
    return criteria.hold(some_figures());
  } catch (const RuleException&) {
    return std::nullopt;
  }
}

void check_numbers(std::string_view text) {
  const std::optional<Decimal> number = Decimal::parse(text);
  if (!number) return;
  require(Decimal::parse(number->to_string()) == number, "a number is read as it was written");
  require(number->minus(*number) == Decimal{0}, "a number less itself is nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_numbers(text);
  const std::optional<Criteria> criteria = read(text);
  if (!criteria) return 0;
  const std::optional<Verdict> verdict = judged(*criteria);
  require(held(*criteria) == (verdict ? std::optional{verdict->holds} : std::nullopt),
          "hold() and judge() agree");
  if (!verdict) return 0;
  require(verdict->findings.size() <= Criteria::kMaxParts, "findings are bounded");
  for (const auto& finding : verdict->findings) {
    if (finding.kind != Finding::Kind::comparison) continue;
    const std::optional<Criteria> alone = read(finding.text);
    require(alone.has_value(), "a comparison alone is a criterion");
    require(held(*alone) == finding.holds, "and comes out the same");
  }
  return 0;
}
