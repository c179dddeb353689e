#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "errand/task_id.hpp"
#include "errand/timestamp.hpp"

/// PostgreSQL's binary formats, as far as statements here use them.
namespace errand::postgres {

/// Where a row is in its table.
struct Tid {
  std::uint32_t block;
  std::uint16_t row;
};

/// The parameters of one statement, in order. Each text must be cast in the statement where its
/// type does not follow: `$1::uuid[]`.
class Parameters {
 public:
  Parameters& add(std::int64_t value);     ///< int8
  Parameters& add(bool value);             ///< bool
  Parameters& add(std::string_view text);  ///< text
  Parameters& add(const std::string& text) { return add(std::string_view{text}); }
  Parameters& add(const char* text) { return add(std::string_view{text}); }
  Parameters& add(const std::optional<std::string>& text);
  Parameters& add(const TaskId& id);  ///< uuid
  Parameters& add(Timestamp time);    ///< timestamptz
  Parameters& add(const std::optional<Timestamp>& time);

  // Arrays.
  Parameters& add(std::span<const TaskId> ids);
  Parameters& add(std::span<const std::int64_t> numbers);
  Parameters& add(std::span<const Tid> places);
  Parameters& add(std::span<const std::string> texts);
  Parameters& add(std::span<const std::string_view> texts);
  Parameters& add(std::span<const std::optional<std::string>> texts);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(lengths_.size()); }
  /// What libpq takes; valid until the next add().
  [[nodiscard]] const char* const* values();
  [[nodiscard]] const int* lengths() const noexcept { return lengths_.data(); }
  [[nodiscard]] const int* formats() const noexcept { return formats_.data(); }

 private:
  void begin();
  void end();
  void add_null();
  template <class T, class Write>
  void add_array(std::uint32_t element_type, std::span<const T> elements, Write&& write);

  std::string bytes_;
  std::vector<std::ptrdiff_t> offsets_;  ///< -1: NULL
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<const char*> values_;
};

/// Reads what Parameters would write. Throw StorageException for another length.
[[nodiscard]] std::int64_t read_integer(std::string_view bytes);
[[nodiscard]] Timestamp read_time(std::string_view bytes);
[[nodiscard]] TaskId read_task_id(std::string_view bytes);
[[nodiscard]] Tid read_tid(std::string_view bytes);

}  // namespace errand::postgres
