#include "http/json_members.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <cstddef>

namespace errand::http {
namespace {

/// Steps over the parts of JSON that is known to be well-formed.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_{text} {}

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  [[nodiscard]] bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] std::string_view take_string() {
    skip_space();
    const std::size_t begin = at_;
    skip_string();
    return text_.substr(begin, at_ - begin);
  }

  [[nodiscard]] std::string_view take_value() {
    skip_space();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        if (depth == 0) break;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']' || is_space(c))) break;
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) break;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ < text_.size()) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string unquoted(std::string_view literal) {
  if (literal.find('\\') == std::string_view::npos) {
    return std::string{literal.substr(1, literal.size() - 2)};
  }
  return boost::json::value_to<std::string>(boost::json::parse(literal));
}

}  // namespace

std::vector<JsonMember> members_of(std::string_view object) {
  std::vector<JsonMember> members;
  Walker walker{object};
  if (!walker.take('{') || walker.take('}')) return members;
  do {
    std::string name = unquoted(walker.take_string());
    static_cast<void>(walker.take(':'));
    members.push_back({std::move(name), walker.take_value()});
  } while (walker.take(','));
  return members;
}

}  // namespace errand::http
