#include "core/traceparent.hpp"

namespace errand::detail {
namespace {

constexpr std::size_t kTraceBegin = 3;
constexpr std::size_t kTraceLength = 32;
constexpr std::size_t kParentBegin = 36;
constexpr std::size_t kParentLength = 16;
constexpr std::size_t kFlagsBegin = 53;
constexpr std::size_t kLength = 55;

bool is_hex(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_zero(std::string_view text) noexcept {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

bool is_traceparent(std::string_view text) noexcept {
  if (text.size() < kLength) return false;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(kTraceBegin, kTraceLength);
  const std::string_view parent = text.substr(kParentBegin, kParentLength);
  if (text[2] != '-' || text[kParentBegin - 1] != '-' || text[kFlagsBegin - 1] != '-') return false;
  if (!is_hex(version) || version == "ff") return false;
  if (!is_hex(trace) || is_zero(trace) || !is_hex(parent) || is_zero(parent)) return false;
  if (!is_hex(text.substr(kFlagsBegin, 2))) return false;
  return text.size() == kLength || (version != "00" && text[kLength] == '-');
}

std::string_view trace_id(const Headers& headers) noexcept {
  const auto header = headers.find(kTraceparent);
  if (header == headers.end() || !is_traceparent(header->second)) return {};
  return std::string_view{header->second}.substr(kTraceBegin, kTraceLength);
}

}  // namespace errand::detail
