#include "distributor_upgrade/commands/json_views.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "errand/json.hpp"

namespace errand::distributors {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::serialize;
using boost::json::value;

template <class T>
value or_null(const std::optional<T>& optional) {
  return optional ? value(*optional) : value(nullptr);
}

object object_of(const Level& level) {
  return {{"id", level.id},
          {"rank", level.rank},
          {"name", level.name},
          {"criteria", or_null(level.criteria)}};
}

object object_of(const Distributor& distributor) {
  return {{"id", distributor.id},
          {"name", distributor.name},
          {"sponsorId", or_null(distributor.sponsor_id)},
          {"levelId", distributor.level_id},
          {"level", distributor.level},
          {"joinedAt", to_iso8601(distributor.joined_at)},
          {"levelSince", to_iso8601(distributor.level_since)}};
}

object object_of(const Withdrawal& withdrawal) {
  return {{"id", withdrawal.id},
          {"distributorId", withdrawal.distributor_id},
          {"distributor", withdrawal.distributor},
          {"amount", money_text(withdrawal.amount_cents)},
          {"status", to_string(withdrawal.status)},
          {"createdAt", to_iso8601(withdrawal.created_at)},
          {"completedAt",
           withdrawal.completed_at ? value(to_iso8601(*withdrawal.completed_at)) : value(nullptr)}};
}

std::string_view name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::all_of:
      return "allOf";
    case Finding::Kind::any_of:
      return "anyOf";
    case Finding::Kind::opposite:
      return "not";
    default:
      return "comparison";
  }
}

object object_of(const Assessment::Step& step) {
  object json = object_of(step.level);
  json["reached"] = step.verdict ? value(step.verdict->holds) : value(nullptr);
  json["problem"] = step.verdict ? value(nullptr) : value(step.problem);
  array findings;
  for (const Finding& finding : step.verdict.value_or(Verdict{}).findings) {
    object item{
        {"kind", name_of(finding.kind)}, {"depth", finding.depth}, {"holds", finding.holds}};
    if (finding.kind == Finding::Kind::comparison) {
      item["criterion"] = finding.text;
      item["left"] = finding.left;
      item["comparison"] = finding.comparison;
      item["right"] = finding.right;
    }
    findings.push_back(std::move(item));
  }
  json["findings"] = std::move(findings);
  return json;
}

template <class T>
std::string array_of(const std::vector<T>& items) {
  array json;
  for (const T& item : items) json.push_back(object_of(item));
  return serialize(json);
}

}  // namespace

std::string json_of(const Level& level) { return serialize(object_of(level)); }

std::string json_of(const std::vector<Level>& levels) { return array_of(levels); }

std::string json_of(const Distributor& distributor, const Figures& figures) {
  object json = object_of(distributor);
  json["figures"] = parse_json(to_json(figures));
  return serialize(json);
}

std::string json_of(const std::vector<TeamMember>& team) {
  array json;
  for (const TeamMember& member : team) {
    object item = object_of(member.distributor);
    item["depth"] = member.depth;
    json.push_back(std::move(item));
  }
  return serialize(json);
}

std::string json_of(const std::vector<Distributor>& distributors) { return array_of(distributors); }

std::string json_of(const Withdrawal& withdrawal) { return serialize(object_of(withdrawal)); }

std::string json_of(const std::vector<Withdrawal>& withdrawals) { return array_of(withdrawals); }

std::string json_of(const std::vector<UpgradeRecord>& upgrades) {
  array json;
  for (const UpgradeRecord& upgrade : upgrades) {
    json.push_back(
        object{{"id", upgrade.id},
               {"distributorId", upgrade.distributor_id},
               {"distributor", upgrade.distributor},
               {"previousLevel", upgrade.previous_level},
               {"newLevel", upgrade.new_level},
               {"triggeringWithdrawLedgerId", or_null(upgrade.triggering_withdraw_ledger_id)},
               {"criteria", or_null(upgrade.criteria)},
               {"figures", parse_json(upgrade.figures)},
               {"upgradeTime", to_iso8601(upgrade.upgrade_time)}});
  }
  return serialize(json);
}

std::string json_of(const Assessment& assessment) {
  array steps;
  for (const Assessment::Step& step : assessment.steps) steps.push_back(object_of(step));
  const auto& upgrade = assessment.upgrade;
  object json{{"distributorId", assessment.context.distributor_id},
              {"name", assessment.context.name},
              {"level", upgrade ? upgrade->new_level : assessment.level.name},
              {"previousLevel", upgrade ? value(upgrade->previous_level) : value(nullptr)},
              {"upgraded", upgrade.has_value()},
              {"reached", assessment.reached ? value(assessment.reached->name) : value(nullptr)},
              {"problem", assessment.problem.empty() ? value(nullptr) : value(assessment.problem)},
              {"figures", parse_json(to_json(assessment.context.figures))},
              {"steps", std::move(steps)}};
  return serialize(json);
}

std::string json_of(const Upgrade& upgrade) {
  return serialize(object{{"distributorId", upgrade.distributor_id},
                          {"distributor", upgrade.name},
                          {"previousLevel", upgrade.previous_level},
                          {"newLevel", upgrade.new_level}});
}

std::string json_of_figures() {
  array json;
  for (const FigureInfo& figure : kFigures) {
    json.push_back(
        object{{"name", figure.name}, {"meaning", figure.meaning}, {"money", figure.money}});
  }
  return serialize(json);
}

std::string json_of(const JsonMembers& members) {
  std::string json;
  for (const auto& [name, member] : members) {
    json += fmt::format("{}\"{}\":", json.empty() ? "{" : ",", name);
    // Boost.JSON would write 9E3, which is right and unreadable.
    if (const auto* number = std::get_if<double>(&member)) {
      json += fmt::format("{:.3f}", *number);
    } else {
      json += std::visit([](const auto& it) { return serialize(value(it)); }, member);
    }
  }
  return json.empty() ? "{}" : json + "}";
}

}  // namespace errand::distributors
