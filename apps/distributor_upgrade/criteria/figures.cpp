#include "distributor_upgrade/criteria/figures.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace errand::distributors {

const FigureInfo& info(Figure figure) { return kFigures.at(static_cast<std::size_t>(figure)); }

std::optional<Figure> find_figure(std::string_view name) {
  const auto* found = std::ranges::find(kFigures, name, &FigureInfo::name);
  if (found == kFigures.end()) return std::nullopt;
  return found->figure;
}

std::string figure_names() {
  std::string names;
  for (const FigureInfo& figure : kFigures) {
    if (!names.empty()) names += ", ";
    names += figure.name;
  }
  return names;
}

std::string Figures::text(Figure figure) const {
  const Decimal& value = (*this)[figure];
  const auto cents = info(figure).money ? value.to_cents() : std::nullopt;
  return cents ? money_text(*cents) : value.to_string();
}

std::string to_json(const Figures& figures) {
  std::string json;
  for (const FigureInfo& figure : kFigures) {
    if (!figures.has(figure.figure)) continue;
    const std::string text = figures.text(figure.figure);
    json += fmt::format("{}\"{}\":{}", json.empty() ? "{" : ",", figure.name,
                        figure.money ? "\"" + text + "\"" : text);
  }
  return json + "}";
}

}  // namespace errand::distributors
