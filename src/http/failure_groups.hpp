#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "errand/timestamp.hpp"

namespace errand::http {

/// Failures in groups of a kind: of one type, with errors of one class, whose messages have one
/// pattern.
class FailureGroups {
 public:
  struct Failure {
    std::string type;
    std::string error_class;
    std::string message;
    Timestamp at;
    std::string id;
  };

  /// In which order failures are added: it tells which of one moment is the newest.
  enum class Order : std::uint8_t { newest_first, oldest_first };
  explicit FailureGroups(Order order) : order_{order} {}

  void add(Failure failure);

  /// The groups, the largest first, each with its newest failure, whose id is called `id_name`
  /// there; how many failures were looked at; how many there are in all.
  [[nodiscard]] std::string to_json(std::string_view id_name, std::int64_t looked,
                                    std::int64_t total) const;

 private:
  using Kind = std::tuple<std::string, std::string, std::string>;  ///< type, class, pattern

  struct Group {
    std::int64_t count = 0;
    Timestamp last;
    std::string message;
    std::string id;
  };

  Order order_;
  std::map<Kind, Group> groups_;
};

}  // namespace errand::http
