// The JSON codec: what can be decoded can be encoded, and means the same then.
#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/codec.hpp"
#include "errand/errors.hpp"

#include "fuzz/invariant.hpp"

namespace {

using errand::fuzz::require;

enum class Colour { red, green };
BOOST_DESCRIBE_ENUM(Colour, red, green)

struct Base {
  std::optional<std::int8_t> tiny;
};
BOOST_DESCRIBE_STRUCT(Base, (), (tiny))

struct Message : Base {
  std::optional<bool> flag;
  std::optional<std::uint64_t> big;
  std::optional<float> narrow;
  std::optional<double> wide;
  std::optional<std::string> text;
  std::optional<Colour> colour;
  std::optional<std::vector<Message>> children;
  std::optional<std::map<std::string, std::vector<int>>> table;
  std::optional<boost::json::value> any;
};
BOOST_DESCRIBE_STRUCT(Message, (Base),
                      (flag, big, narrow, wide, text, colour, children, table, any))

template <class T>
std::optional<T> decoded(std::string_view input) {
  try {
    return errand::decode<T>(input);
  } catch (const errand::ValidationException&) {
    return std::nullopt;
  }
}

/// What was read can be written: anything thrown from here on is a finding.
template <class T>
void check(std::string_view input) {
  const std::optional<T> value = decoded<T>(input);
  if (!value) return;
  const std::string text = errand::encode(*value);
  require(errand::encode(errand::decode<T>(text)) == text, "what was encoded comes back");
}

void check_any_json(std::string_view input) {
  const std::optional<boost::json::value> value = decoded<boost::json::value>(input);
  if (!value) return;
  require(errand::parse_json(errand::encode(*value)) == *value, "JSON comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  check_any_json(input);
  check<Message>(input);
  check<std::vector<double>>(input);
  return 0;
}
