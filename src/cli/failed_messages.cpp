#include "cli/failed_messages.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <deque>
#include <fmt/ostream.h>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "errand/clock.hpp"
#include "errand/errors.hpp"

#include "bus/message_failure.hpp"
#include "cli/failure_view.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "cli/wording.hpp"
#include "terminal/display.hpp"

namespace errand::cli {
namespace {

boost::json::object to_json_object(const FailedMessage& message) {
  boost::json::object headers;
  for (const auto& [name, value] : message.stored.message.headers) headers[name] = value;
  return {{"id", message.stored.id},
          {"type", message.type},
          {"transport", message.failed_in},
          {"body", message.stored.message.body},
          {"headers", std::move(headers)},
          {"error", boost::json::parse(errand::to_json(message.error))},
          {"failedAt", to_iso8601(message.stored.created_at)}};
}

void print_groups(FailureTransport& failures, const MessageFilter& filter, bool json,
                  Console& console) {
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  failures.for_each(filter, [&](const FailedMessage& message) {
    ++counts[{message.type, message.error.class_name}];
  });
  boost::json::array items;
  Table table{{{.title = "MESSAGES", .align = Column::Align::right},
               {.title = "TYPE", .may_shrink = true},
               {.title = "ERROR", .may_shrink = true}}};
  for (const auto& [kind, count] : counts) {
    items.push_back(
        boost::json::object{{"type", kind.first}, {"class", kind.second}, {"count", count}});
    table.add_row({format_count(count), kind.first, kind.second});
  }
  if (json) {
    print_json(console, boost::json::serialize(items));
  } else if (table.empty()) {
    console.out << "No failed messages\n";
  } else {
    table.print(console.out, console.out_screen);
  }
}

/// The messages of one page, the newest first, out of all that the filter chooses.
struct MessagePage {
  std::vector<FailedMessage> items;
  std::int64_t total = 0;
};

MessagePage read_page(FailureTransport& failures, const MessageFilter& filter) {
  MessagePage page;
  // Of those up to the end of the page, counted from the newest.
  std::deque<std::string> ids;
  const std::int64_t most = filter.page * filter.page_size;
  failures.for_each(filter, [&](FailedMessage& message) {
    ++page.total;
    ids.push_back(std::move(message.stored.id));
    if (static_cast<std::int64_t>(ids.size()) > most) ids.pop_front();
  });
  const std::int64_t newer = std::min(most - filter.page_size, page.total);
  ids.resize(ids.size() - static_cast<std::size_t>(newer));
  const std::size_t size = std::min(ids.size(), static_cast<std::size_t>(filter.page_size));
  for (std::size_t i = 0; i < size; ++i) {
    // Somebody may have dealt with it meanwhile.
    if (auto message = failures.find(ids[ids.size() - 1 - i])) {
      page.items.push_back(*std::move(message));
    }
  }
  return page;
}

/// What is done with each of the chosen.
struct MessageChange {
  const char* done;      ///< for people
  const char* json_key;  ///< for programs
  std::function<void(FailureTransport&, const FailedMessage&)> apply;
};

/// Those that were named and are not there are told, and give the exit code.
std::vector<FailedMessage> find_chosen(FailureTransport& failures, const ChosenMessages& chosen,
                                       ExitCode& code, Console& console) {
  std::vector<FailedMessage> messages;
  if (chosen.ids.empty()) {
    failures.for_each(chosen.filter,
                      [&](FailedMessage& message) { messages.push_back(std::move(message)); });
  }
  for (const std::string& id : chosen.ids) {
    if (auto found = failures.find(id)) {
      messages.push_back(*std::move(found));
    } else {
      fmt::print(console.err, "errand: no message {} in transport {}\n", terminal::printable(id),
                 terminal::printable(failures.transport().name()));
      code = ExitCode::no_such_task;
    }
  }
  return messages;
}

/// In this order: what happens in between doubles the message, and loses nothing.
void send_again(FailureTransport& failures, const FailedMessage& message) {
  const Outgoing again = detail::second_chance_of(message.stored.message);
  failures.origin_of(message).send({&again, 1});
  failures.transport().remove({&message.stored.id, 1});
}

void remove(FailureTransport& failures, const FailedMessage& message) {
  failures.transport().remove({&message.stored.id, 1});
}

ExitCode change(const TransportChoice& from, const ChosenMessages& chosen, bool json,
                Console& console, const MessageChange& to) {
  FailureTransport failures{from};
  ExitCode code = ExitCode::done;
  const std::vector<FailedMessage> messages = find_chosen(failures, chosen, code, console);
  for (const FailedMessage& message : messages) to.apply(failures, message);
  if (json) {
    print_json(console,
               boost::json::serialize(boost::json::object{{to.json_key, messages.size()}}));
  } else {
    fmt::print(console.out, "{} {} {}\n", to.done,
               format_count(static_cast<std::int64_t>(messages.size())),
               messages.size() == 1 ? "message" : "messages");
  }
  return code;
}

}  // namespace

MessageFilter message_filter(const FailureFilter& filter) {
  if (!filter.page.queue.empty()) {
    throw ConfigurationException{"--queue is for tasks; of messages, --transport says it all"};
  }
  return {.type = filter.page.type,
          .error_class = filter.error_class,
          .page = filter.page.page,
          .page_size = filter.page.page_size};
}

ExitCode list_failed_messages(const TransportChoice& from, const MessageFilter& filter, bool stats,
                              bool json, Console& console) {
  FailureTransport failures{from};
  if (stats) {
    print_groups(failures, filter, json, console);
    return ExitCode::done;
  }
  const MessagePage page = read_page(failures, filter);
  boost::json::array items;
  Table table{{{.title = "ID"},
               {.title = "TYPE", .may_shrink = true},
               {.title = "TRANSPORT", .may_shrink = true, .may_drop = true},
               {.title = "AGE", .align = Column::Align::right},
               {.title = "ERROR", .may_shrink = true}}};
  const Timestamp now = system_clock().now();
  for (const FailedMessage& message : page.items) {
    items.push_back(to_json_object(message));
    table.add_row({message.stored.id,
                   message.type,
                   message.failed_in,
                   format_short_age(message.stored.created_at, now),
                   {summarize(message.error), Colour::red}});
  }
  if (json) {
    print_json(console,
               boost::json::serialize(boost::json::object{
                   {"items", std::move(items)},
                   {"total", page.total},
                   {"page", filter.page},
                   {"page_size", filter.page_size},
                   {"total_pages", (page.total + filter.page_size - 1) / filter.page_size}}));
    return ExitCode::done;
  }
  if (!table.empty()) table.print(console.out, console.out_screen);
  if (page.total == 0) console.out << "No failed messages\n";
  if (filter.page * filter.page_size < page.total) {
    fmt::print(console.out, "{} messages · next: --page {}\n", format_count(page.total),
               filter.page + 1);
  }
  return ExitCode::done;
}

ExitCode show_failed_message(const TransportChoice& from, const std::string& id, bool json,
                             Console& console) {
  FailureTransport failures{from};
  const std::optional<FailedMessage> message = failures.find(id);
  if (!message) {
    fmt::print(console.err, "errand: no message {} in transport {}\n", terminal::printable(id),
               terminal::printable(failures.transport().name()));
    return ExitCode::no_such_task;
  }
  if (json) {
    print_json(console, boost::json::serialize(to_json_object(*message)));
    return ExitCode::done;
  }
  const auto line = [&](const char* name, const std::string& value) {
    fmt::print(console.out, "{:<10} {}\n", name, terminal::printable(value));
  };
  line("message", message->stored.id);
  line("type", message->type);
  line("transport", message->failed_in);
  line("failed", to_iso8601(message->stored.created_at));
  line("body", message->stored.message.body);
  line("error", summarize(message->error));
  print_causes(console.out, message->error, "           ", Traces::show);
  for (const auto& [name, value] : message->stored.message.headers)
    line("header", name + ": " + value);
  return ExitCode::done;
}

void print_result(const DialogueResult& result, bool json, Console& console) {
  if (json) {
    print_json(console, boost::json::serialize(boost::json::object{{"retried", result.retried},
                                                                   {"removed", result.removed},
                                                                   {"skipped", result.skipped}}));
  } else {
    fmt::print(console.out, "{} sent again, {} removed, {} left\n", result.retried, result.removed,
               result.skipped);
  }
}

ExitCode retry_failed_messages(const TransportChoice& from, const ChosenMessages& chosen, bool json,
                               Console& console) {
  return change(from, chosen, json, console, {"Sent again", "retried", send_again});
}

ExitCode remove_failed_messages(const TransportChoice& from, const ChosenMessages& chosen,
                                bool json, Console& console) {
  return change(from, chosen, json, console, {"Removed", "removed", remove});
}

ExitCode ask_about_failed_messages(const TransportChoice& from, const ChosenMessages& chosen,
                                   bool json, Console& console) {
  FailureTransport failures{from};
  ExitCode code = ExitCode::done;
  std::vector<Failure> shown;
  for (const FailedMessage& message : find_chosen(failures, chosen, code, console)) {
    shown.push_back({.id = message.stored.id,
                     .type = message.type,
                     .where = message.failed_in,
                     .body = message.stored.message.body,
                     .error = message.error});
  }
  // Found anew: somebody else may have dealt with it while a person thought.
  const auto with = [&](auto change) {
    return [&failures, change](const Failure& failure) {
      if (const auto message = failures.find(failure.id)) change(failures, *message);
    };
  };
  print_result(go_through(shown, {.retry = with(send_again), .remove = with(remove)}, console),
               json, console);
  return code;
}

}  // namespace errand::cli
