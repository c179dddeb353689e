#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

#include "errand/exception_data.hpp"
#include "errand/task.hpp"

#include "core/utf8.hpp"
#include "http/failed_messages.hpp"
#include "http/failure_groups.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/task_view.hpp"

/// Messages in failure transports.
namespace errand::http {
namespace {

namespace json = boost::json;
using detail::FailedMessage;
using detail::FailureTransport;
using detail::SecondChance;

constexpr std::int64_t kMostOnPage = 200;
constexpr std::size_t kShown = 64;

/// Other programs write them: nothing says that they are UTF-8.
std::string text_of(const std::string& bytes) {
  return detail::repair_and_cut_utf8(bytes, kMaxDocumentBytes);
}

json::object short_json(const FailedMessage& message) {
  return {{"kind", "message"},
          {"id", message.stored.id},
          {"type", text_of(message.type)},
          {"transport", text_of(message.failed_in)},
          {"failedAt", to_iso8601(message.stored.created_at)},
          {"errorClass", text_of(message.error.class_name)},
          {"errorMessage", short_message(message.error)}};
}

FailureTransport open(const Call& call, const std::optional<std::string>& transport,
                      const std::optional<std::string>& to = {}) {
  return call.service.failed_messages->open(transport, to);
}

Problem no_such_message(const std::string& id, FailureTransport& failures) {
  return Problem{404,
                 fmt::format("there is no message '{}' in transport {}",
                             detail::repair_and_cut_utf8(id, kShown), failures.transport().name())}
      .named("message-not-found");
}

/// What of the filter the transport looks at by itself.
detail::MessageFilter message_filter(const FailureFilter& filter) {
  detail::MessageFilter wanted;
  wanted.type = filter.tasks.type.value_or("");
  wanted.error_class = filter.error_class.value_or("");
  return wanted;
}

FailureFilter filter_of_messages(const Query& query) {
  if (query.text("queue")) {
    throw Problem{400, "'queue' is for tasks; of messages, 'transport' says it all"}.of_parameter(
        "queue");
  }
  return FailureFilter::of(query);
}

void require_way_back(const FailureTransport& failures, const FailedMessage& message) {
  if (failures.knows_way_back(message)) return;
  throw Problem{
      409, fmt::format("it is not known where message {} goes{}: say so with 'to', the "
                       "name of a transport of the configuration, which the failure "
                       "transport itself cannot be",
                       message.stored.id,
                       message.failed_in.empty()
                           ? std::string{}
                           : fmt::format(", which failed in '{}'",
                                         detail::repair_and_cut_utf8(message.failed_in, kShown)))}
      .named("no-way-back");
}

json::object skipped(const std::string& id, const char* reason) {
  return {{"id", detail::repair_and_cut_utf8(id, kShown)}, {"reason", reason}};
}

/// The ids of the chosen that are there; the others are added to `left`. `look` sees each, before
/// anything has happened.
std::vector<std::string> find_chosen(FailureTransport& failures, const FailedChoice& choice,
                                     json::array& left,
                                     const std::function<void(const FailedMessage&)>& look) {
  std::vector<std::string> ids;
  for (const std::string& id : choice.message_ids) {
    if (const auto message = failures.find(id)) {
      look(*message);
      ids.push_back(message->stored.id);
    } else {
      left.push_back(skipped(id, "not found"));
    }
  }
  if (!choice.message_ids.empty()) return ids;
  failures.for_each(message_filter(choice.filter), [&](const FailedMessage& message) {
    if (!choice.filter.chooses(message.error)) return;
    look(message);
    ids.push_back(message.stored.id);
  });
  return ids;
}

}  // namespace

Response list_failure_transports(const Call& call) {
  const Query none{call.request.target, {}};
  const std::vector<std::string>& names = call.service.failed_messages->names();
  return Response::json(
      json::serialize(json::object{{"items", json::array(names.begin(), names.end())}}));
}

Response list_failed_messages(const Call& call, const Query& query) {
  const PageQuery page = PageQuery::of(query, kMostOnPage);
  if (page.after) {
    throw Problem{400, "messages have pages, and no cursor"}.of_parameter("cursor");
  }
  const FailureFilter filter = filter_of_messages(query);
  if (filter.pattern) {
    throw Problem{400, "'pattern' is for the groups of messages, and for changing them"}
        .of_parameter("pattern");
  }
  FailureTransport failures = open(call, query.text("transport"));
  detail::MessageFilter wanted = message_filter(filter);
  wanted.page = page.page;
  wanted.page_size = page.page_size;
  const detail::MessagePage found = failures.page(wanted);
  std::vector<std::string> items;
  for (const FailedMessage& message : found.items) {
    items.push_back(json::serialize(short_json(message)));
  }
  return Response::json(page_json(items, found.total, page, std::nullopt));
}

Response group_failed_messages(const Call& call, const Query& query) {
  const FailureFilter filter = filter_of_messages(query);
  FailureTransport failures = open(call, query.text("transport"));
  FailureGroups groups{FailureGroups::Order::oldest_first};
  std::int64_t looked = 0;
  failures.for_each(message_filter(filter), [&](const FailedMessage& message) {
    ++looked;
    if (!filter.chooses(message.error)) return;
    groups.add({.type = text_of(message.type),
                .error_class = text_of(message.error.class_name),
                .message = short_message(message.error),
                .at = message.stored.created_at,
                .id = message.stored.id});
  });
  return Response::json(groups.to_json("id", looked, looked));
}

Response get_failed_message(const Call& call, const Query& query) {
  FailureTransport failures = open(call, query.text("transport"));
  const std::string& id = call.parts.front();
  std::optional<FailedMessage> message = failures.find(id);
  if (!message) throw no_such_message(id, failures);
  WireMessage& wire = message->stored.message;
  wire.body = text_of(wire.body);
  for (auto& [name, value] : wire.headers) value = text_of(value);
  json::object shown = detail::to_json(*message);
  shown.erase("error");
  return Response::json(
      json::serialize(json::object{{"kind", "message"},
                                   {"message", std::move(shown)},
                                   {"error", json::parse(errand::to_json(message->error))}}));
}

Response delete_failed_message(const Call& call, const Query& query) {
  FailureTransport failures = open(call, query.text("transport"));
  const std::string& id = call.parts.front();
  if (failures.transport().remove({&id, 1}) == 0) throw no_such_message(id, failures);
  return Response::empty(204);
}

Response retry_failed_message(const Call& call, const Query& query) {
  FailureTransport failures = open(call, query.text("transport"), query.text("to"));
  const std::string& id = call.parts.front();
  const std::optional<FailedMessage> message = failures.find(id);
  if (!message) throw no_such_message(id, failures);
  require_way_back(failures, *message);
  const SecondChance chance = failures.send_again(id);
  if (chance.outcome == SecondChance::Outcome::gone) throw no_such_message(id, failures);
  if (chance.outcome == SecondChance::Outcome::in_flight) {
    throw Problem{409, fmt::format("message {} is being handled by somebody else: it is left alone",
                                   message->stored.id)};
  }
  return Response::json(
      json::serialize(json::object{{"id", message->stored.id}, {"to", chance.to}}));
}

Response retry_failed_messages(const Call& call, const FailedChoice& choice) {
  FailureTransport failures = open(call, choice.transport, choice.to);
  json::array left;
  // All of them are looked at first: a mistake is told before anything has happened.
  const std::vector<std::string> ids =
      find_chosen(failures, choice, left,
                  [&](const FailedMessage& message) { require_way_back(failures, message); });
  std::int64_t retried = 0;
  std::map<std::string, std::int64_t> to;
  for (const std::string& id : ids) {
    const SecondChance chance = failures.send_again(id);
    if (chance.is_sent()) {
      ++retried;
      ++to[chance.to];
    } else {
      left.push_back(
          skipped(id, chance.outcome == SecondChance::Outcome::gone ? "not found" : "in flight"));
    }
  }
  json::object counts;
  for (const auto& [transport, count] : to) counts[transport] = count;
  return Response::json(json::serialize(
      json::object{{"retried", retried}, {"to", std::move(counts)}, {"skipped", std::move(left)}}));
}

Response remove_failed_messages(const Call& call, const FailedChoice& choice) {
  if (choice.to) {
    throw Problem{422, "'to' is for retries: what is removed goes nowhere"}.at_pointer("/to");
  }
  FailureTransport failures = open(call, choice.transport);
  json::array left;
  const std::vector<std::string> ids =
      find_chosen(failures, choice, left, [](const FailedMessage&) {});
  const std::size_t removed = failures.transport().remove(ids);
  return Response::json(
      json::serialize(json::object{{"removed", removed}, {"skipped", std::move(left)}}));
}

}  // namespace errand::http
