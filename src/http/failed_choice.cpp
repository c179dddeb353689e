#include "http/failed_choice.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <set>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "core/utf8.hpp"
#include "http/error_pattern.hpp"
#include "http/json_members.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostIds = 10'000;
constexpr std::size_t kLongestMessage = 500;
constexpr std::size_t kShown = 64;

constexpr const char* kForms =
    R"(send {"taskIds":[…]}, a filter of type, queue, class and pattern, or {"all":true}; for )"
    R"(messages {"kind":"message"} with ids, a filter of type, class and pattern, or all, and )"
    R"(perhaps transport and to)";

Problem bad_choice(std::string_view name, const std::string& detail) {
  return Problem{422, detail}.at_pointer("/" + std::string{name});
}

const json::array& array_of(std::string_view name, const json::value& value) {
  if (!value.is_array() || value.get_array().empty() || value.get_array().size() > kMostIds) {
    throw bad_choice(name, fmt::format("'{}' must be an array of 1 to 10,000 ids", name));
  }
  return value.get_array();
}

std::vector<TaskId> task_ids_of(const json::value& value) {
  std::vector<TaskId> ids;
  for (const json::value& item : array_of("taskIds", value)) {
    const auto id = item.is_string() ? TaskId::parse(item.get_string()) : std::nullopt;
    if (!id) {
      throw bad_choice(fmt::format("taskIds/{}", ids.size()),
                       "'taskIds' must hold UUIDs of version 4 only");
    }
    ids.push_back(*id);
  }
  return ids;
}

std::vector<std::string> message_ids_of(const json::value& value) {
  std::vector<std::string> ids;
  for (const json::value& item : array_of("ids", value)) {
    if (!item.is_string() || item.get_string().empty()) {
      throw bad_choice(fmt::format("ids/{}", ids.size()),
                       "'ids' must hold strings only, as the list of messages gives them");
    }
    ids.emplace_back(item.get_string());
  }
  return ids;
}

std::string text_of(std::string_view name, const json::value& value) {
  if (!value.is_string() || value.get_string().empty()) {
    throw bad_choice(name, fmt::format("'{}' must be a string that is not empty", name));
  }
  return std::string{value.get_string()};
}

FailureKind kind_named(std::string_view name) {
  if (name == "task") return FailureKind::task;
  if (name == "message") return FailureKind::message;
  throw std::invalid_argument{"'kind' must be task or message"};
}

void refuse_duplicates(std::string_view body) {
  std::set<std::string> names;
  for (const JsonMember& member : members_of(body)) {
    if (names.insert(member.name).second) continue;
    throw Problem{
        400, fmt::format("'{}' is there twice", detail::repair_and_cut_utf8(member.name, kShown))};
  }
}

/// The members, gathered until all are known.
struct Draft {
  FailedChoice choice{};
  bool by_id = false;
  bool by_filter = false;
  bool all = false;

  void read(std::string_view name, const json::value& value) {
    if (name == "kind") {
      try {
        choice.kind = kind_named(text_of(name, value));
      } catch (const std::invalid_argument& error) {
        throw bad_choice(name, error.what());
      }
    } else if (name == "taskIds") {
      choice.task_ids = task_ids_of(value);
      by_id = true;
    } else if (name == "ids") {
      choice.message_ids = message_ids_of(value);
      by_id = true;
    } else if (name == "all") {
      if (value != json::value(true)) throw bad_choice(name, "'all' must be true, or left out");
      all = true;
    } else if (name == "pattern") {
      // An error without a message has an empty one.
      if (!value.is_string()) throw bad_choice(name, "'pattern' must be a string");
      choice.filter.pattern = std::string{value.get_string()};
      by_filter = true;
    } else if (std::optional<std::string>* part = filter_part(name)) {
      *part = text_of(name, value);
      by_filter = true;
    } else if (name == "transport" || name == "to") {
      (name == "to" ? choice.to : choice.transport) = text_of(name, value);
    } else {
      throw bad_choice(detail::repair_and_cut_utf8(name, kShown), kForms);
    }
  }

  void check() const {
    const bool is_message = choice.kind == FailureKind::message;
    // "Everything" must be said: an empty filter is likelier to be a mistake.
    const bool one_way =
        static_cast<int>(by_id) + static_cast<int>(by_filter) + static_cast<int>(all) == 1;
    const bool fits = is_message ? choice.task_ids.empty() && !choice.filter.tasks.queue
                                 : choice.message_ids.empty() && !choice.transport && !choice.to;
    if (!one_way || !fits) throw Problem{422, kForms}.at_pointer("");
  }

 private:
  std::optional<std::string>* filter_part(std::string_view name) {
    if (name == "type") return &choice.filter.tasks.type;
    if (name == "queue") return &choice.filter.tasks.queue;
    if (name == "class") return &choice.filter.error_class;
    return nullptr;
  }
};

}  // namespace

FailureKind kind_of(const Query& query) {
  try {
    return kind_named(query.text("kind").value_or("task"));
  } catch (const std::invalid_argument& error) {
    throw Problem{400, error.what()}.of_parameter("kind");
  }
}

std::string short_message(const ExceptionData& error) {
  return detail::repair_and_cut_utf8(error.message, kLongestMessage);
}

FailureFilter FailureFilter::of(const Query& query) {
  FailureFilter filter;
  filter.tasks.type = query.text("type");
  filter.tasks.queue = query.text("queue");
  filter.error_class = query.text("class");
  filter.pattern = query.text("pattern");
  return filter;
}

bool FailureFilter::chooses(const ExceptionData& error) const {
  return (!error_class || error.class_name == *error_class) &&
         (!pattern || error_pattern(short_message(error)) == *pattern);
}

FailedChoice FailedChoice::of(const Request& request) {
  if (media_type(request.headers.content_type) != "application/json") {
    throw Problem{415, "send application/json"}.with_header("Accept-Post", "application/json");
  }
  json::value body;
  try {
    body = parse_json(request.body);
  } catch (const ValidationException& error) {
    throw Problem{400, error.what()};
  }
  if (!body.is_object()) throw Problem{422, kForms}.at_pointer("");
  refuse_duplicates(request.body);
  Draft draft;
  for (const json::key_value_pair& member : body.get_object()) {
    draft.read(member.key(), member.value());
  }
  draft.check();
  return std::move(draft.choice);
}

}  // namespace errand::http
