#pragma once

#include <string>
#include <string_view>

#include "errand/export.hpp"

namespace errand::detail {

/// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so
/// that what comes out is JSON whatever goes in.
ERRAND_EXPORT void append_json_string(std::string& out, std::string_view text);

/// The same for text known to be UTF-8.
ERRAND_EXPORT void append_json_utf8(std::string& out, std::string_view text);

/// Writes one flat JSON object, member by member.
class ERRAND_EXPORT JsonObjectText {
 public:
  /// Appends to `out`, which must outlive this.
  explicit JsonObjectText(std::string& out) : out_{out} {}

  void add_string(std::string_view name, std::string_view value);
  void add_number(std::string_view name, long long value);
  /// `json` is inserted as it is.
  void add_json(std::string_view name, std::string_view json);
  void close();

 private:
  void begin_member(std::string_view name);

  std::string& out_;
  bool empty_ = true;
};

}  // namespace errand::detail
