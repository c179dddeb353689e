#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "errand/errors.hpp"

#include "distributor_upgrade/criteria/decimal.hpp"
#include "distributor_upgrade/criteria/figures.hpp"

namespace errand::distributors {

/// What somebody wrote as criteria does not make sense: what() tells where, why, and what would.
class CriteriaException : public ValidationException {
 public:
  /// `position`: the byte, from 0, of `text` where it went wrong.
  CriteriaException(std::string text, std::size_t position, const std::string& reason);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  std::string text_;
  std::size_t position_;
};

/// Criteria that can be read but not worked out for these figures: a number became too long.
class RuleException : public Error {
 public:
  using Error::Error;
};

/// A part of the criteria, and how it came out.
struct Finding {
  /// The parts of a group follow it, one deeper. Those of the outermost `and` are in no group.
  enum class Kind : std::uint8_t { comparison, all_of, any_of, opposite };

  Kind kind = Kind::comparison;
  int depth = 0;
  bool holds = false;

  // Of comparisons only:
  std::string text{};        ///< as it was written
  std::string left{};        ///< what it came to, as people read it
  std::string comparison{};  ///< `>=`
  std::string right{};
  std::string missing{};  ///< how much more it takes, where a number says it
};

struct Verdict {
  bool holds = false;
  std::vector<Finding> findings{};  ///< in the order of the text
};

/// When a level is reached, as people write it:
///
///     withdrawn_total >= 5000 and (team_size >= 10 or direct_team_size * 3 >= 12)
///
/// Figures, numbers, + - *, comparisons (>= > <= < = !=), and, or, not, parentheses. There is no
/// division: its results are not exact. All of it is checked when it is read, so that working it
/// out can fail only by numbers that grow too long. The text may come from anybody: it is bounded
/// in length, parts and depth. Immutable; may be used by many threads.
class Criteria {
 public:
  static constexpr std::size_t kMaxBytes = 1000;
  static constexpr std::size_t kMaxParts = 200;
  static constexpr int kMaxDepth = 32;

  /// Throws CriteriaException.
  explicit Criteria(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  [[nodiscard]] bool ask_about(Figure figure) const noexcept;

  /// Throws RuleException. Nothing is skipped because the outcome is certain: criteria that fail
  /// for some figures should not hide it behind others.
  [[nodiscard]] Verdict judge(const Figures& figures) const;

  /// The verdict alone, which is quicker.
  [[nodiscard]] bool hold(const Figures& figures) const;

  /// A part of the criteria. `left` and `right` are places in the list of parts.
  struct Part {
    enum class Kind : std::uint8_t {
      number,
      figure,
      negation,
      sum,
      difference,
      product,
      at_least,
      more,
      at_most,
      less,
      equal,
      different,
      all_of,
      any_of,
      opposite
    };
    Kind kind = Kind::number;
    std::uint16_t left = 0;
    std::uint16_t right = 0;
    Figure figure{};
    Decimal number{};
    std::size_t begin = 0;  ///< where it stands in the text
    std::size_t end = 0;

    [[nodiscard]] bool is_condition() const noexcept { return kind >= Kind::at_least; }
    [[nodiscard]] bool is_comparison() const noexcept {
      return kind >= Kind::at_least && kind <= Kind::different;
    }
  };

 private:
  friend class CriteriaParser;

  [[nodiscard]] Decimal value(const Part& part, const Figures& figures) const;
  [[nodiscard]] bool is_about_money(const Part& part) const;
  [[nodiscard]] bool holds(const Part& comparison, const Figures& figures, Finding* finding) const;

  /// Where the findings are wanted, and the group that they belong to.
  struct Account {
    std::vector<Finding>* findings = nullptr;
    Part::Kind group = Part::Kind::all_of;
    int depth = 0;
  };
  [[nodiscard]] bool truth(const Part& part, const Figures& figures, Account account) const;

  std::string text_;
  std::vector<Part> parts_;
  std::uint16_t root_ = 0;
};

}  // namespace errand::distributors
