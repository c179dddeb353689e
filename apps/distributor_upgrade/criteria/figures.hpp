#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "distributor_upgrade/criteria/decimal.hpp"

namespace errand::distributors {

/// What criteria may ask about a distributor. Criteria and histories are stored with the names:
/// add, never change.
enum class Figure : std::uint8_t {
  withdrawn_total,
  withdrawn_30_days,
  withdrawal_count,
  direct_team_size,
  indirect_team_size,
  team_size,
  active_days,
  days_at_level,
};

struct FigureInfo {
  Figure figure;
  std::string_view name;
  std::string_view meaning;
  bool money = false;
};

inline constexpr std::array kFigures{
    FigureInfo{Figure::withdrawn_total, "withdrawn_total", "money of completed withdrawals", true},
    FigureInfo{Figure::withdrawn_30_days, "withdrawn_30_days",
               "the same, of those completed in the last 30 days", true},
    FigureInfo{Figure::withdrawal_count, "withdrawal_count", "completed withdrawals"},
    FigureInfo{Figure::direct_team_size, "direct_team_size", "distributors sponsored"},
    FigureInfo{Figure::indirect_team_size, "indirect_team_size",
               "distributors below those, at any depth"},
    FigureInfo{Figure::team_size, "team_size", "both together"},
    FigureInfo{Figure::active_days, "active_days", "whole days since joining"},
    FigureInfo{Figure::days_at_level, "days_at_level", "whole days at the present level"},
};

[[nodiscard]] const FigureInfo& info(Figure figure);
[[nodiscard]] std::optional<Figure> find_figure(std::string_view name);

/// All names, separated by commas.
[[nodiscard]] std::string figure_names();

/// The figures of one distributor at one moment: 0, until they are set.
class Figures {
 public:
  /// The figure must not be left out.
  [[nodiscard]] const Decimal& operator[](Figure figure) const {
    return values_.at(static_cast<std::size_t>(figure)).value();
  }

  /// It was not worth finding out, because nobody asks. It is not shown either.
  void leave_out(Figure figure) { values_.at(static_cast<std::size_t>(figure)).reset(); }
  [[nodiscard]] bool has(Figure figure) const {
    return values_.at(static_cast<std::size_t>(figure)).has_value();
  }

  void set(Figure figure, Decimal value) { values_.at(static_cast<std::size_t>(figure)) = value; }

  /// As people read it: money with two places. It must not be left out.
  [[nodiscard]] std::string text(Figure figure) const;

 private:
  static constexpr auto kZeros = [] {
    std::array<std::optional<Decimal>, kFigures.size()> zeros;
    zeros.fill(Decimal{});
    return zeros;
  }();

  std::array<std::optional<Decimal>, kFigures.size()> values_ = kZeros;
};

/// {"withdrawn_total":"6200.00","withdrawal_count":3,…}: money as text, because readers of JSON
/// make numbers binary.
[[nodiscard]] std::string to_json(const Figures& figures);

}  // namespace errand::distributors
