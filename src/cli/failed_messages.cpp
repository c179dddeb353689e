#include "cli/failed_messages.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <map>
#include <optional>
#include <utility>

#include "errand/clock.hpp"
#include "errand/errors.hpp"
#include "errand/task_id.hpp"

#include "cli/failure_view.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

void print_groups(FailureTransport& failures, const MessageFilter& filter, bool json,
                  terminal::Console& console) {
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  failures.for_each(filter, [&](const FailedMessage& message) {
    ++counts[{message.type, message.error.class_name}];
  });
  boost::json::array items;
  terminal::Table table{{{.title = "MESSAGES", .align = terminal::Column::Align::right},
                         {.title = "TYPE", .may_shrink = true},
                         {.title = "ERROR", .may_shrink = true}}};
  for (const auto& [kind, count] : counts) {
    items.push_back(
        boost::json::object{{"type", kind.first}, {"class", kind.second}, {"count", count}});
    table.add_row({terminal::format_count(count), kind.first, kind.second});
  }
  if (json) {
    print_json(console, boost::json::serialize(items));
  } else if (table.empty()) {
    console.out << "No failed messages\n";
  } else {
    table.print(console.out, console.out_screen);
  }
}

}  // namespace

void require_task_ids(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (TaskId::parse(id)) continue;
    throw ConfigurationException{fmt::format(
        "'{}' is not the id of a task, which is a UUID of version 4; for a message, name "
        "its failure transport, as --transport failed",
        id)};
  }
}

MessageFilter message_filter(const FailureFilter& filter) {
  if (!filter.page.queue.empty()) {
    throw ConfigurationException{"--queue is for tasks; of messages, --transport says it all"};
  }
  return {.type = filter.page.type,
          .error_class = filter.error_class,
          .page = filter.page.page,
          .page_size = filter.page.page_size};
}

terminal::ExitCode list_failed_messages(const TransportChoice& from, const MessageFilter& filter,
                                        bool stats, bool json, terminal::Console& console) {
  detail::OpenTransports transports = from.open(TransportOptions::Open::existing);
  FailureTransport failures{transports, from.name, {}, from.holds_failures};
  if (stats) {
    print_groups(failures, filter, json, console);
    return terminal::ExitCode::done;
  }
  const detail::MessagePage page = failures.page(filter);
  boost::json::array items;
  terminal::Table table{{{.title = "ID"},
                         {.title = "TYPE", .may_shrink = true},
                         {.title = "TRANSPORT", .may_shrink = true, .may_drop = true},
                         {.title = "AGE", .align = terminal::Column::Align::right},
                         {.title = "ERROR", .may_shrink = true}}};
  const Timestamp now = system_clock().now();
  for (const FailedMessage& message : page.items) {
    items.push_back(detail::to_json(message));
    table.add_row({message.stored.id,
                   message.type,
                   message.failed_in,
                   terminal::format_short_age(message.stored.created_at, now),
                   {summarize(message.error), terminal::Colour::red}});
  }
  if (json) {
    print_json(console,
               boost::json::serialize(boost::json::object{
                   {"items", std::move(items)},
                   {"total", page.total},
                   {"page", filter.page},
                   {"page_size", filter.page_size},
                   {"total_pages", (page.total + filter.page_size - 1) / filter.page_size}}));
    return terminal::ExitCode::done;
  }
  if (!table.empty()) table.print(console.out, console.out_screen);
  if (page.total == 0) console.out << "No failed messages\n";
  if (filter.page * filter.page_size < page.total) {
    fmt::print(console.out, "{} messages · next: --page {}\n", terminal::format_count(page.total),
               filter.page + 1);
  }
  return terminal::ExitCode::done;
}

terminal::ExitCode show_failed_message(const TransportChoice& from, const std::string& id,
                                       bool json, terminal::Console& console) {
  detail::OpenTransports transports = from.open(TransportOptions::Open::existing);
  FailureTransport failures{transports, from.name, {}, from.holds_failures};
  const std::optional<FailedMessage> message = failures.find(id);
  if (!message) {
    fmt::print(console.err, "errand: no message {} in transport {}\n", terminal::printable(id),
               terminal::printable(failures.transport().name()));
    return terminal::ExitCode::not_found;
  }
  if (json) {
    print_json(console, boost::json::serialize(detail::to_json(*message)));
    return terminal::ExitCode::done;
  }
  const auto line = [&](const char* name, const std::string& value) {
    fmt::print(console.out, "{:<10} {}\n", name, terminal::printable(value));
  };
  line("message", message->id);
  if (message->stored.id != message->id) line("id here", message->stored.id);
  line("type", message->type);
  line("transport", message->failed_in);
  line("failed", to_iso8601(message->stored.created_at));
  line("body", message->stored.message.body);
  line("error", summarize(message->error));
  print_causes(console.out, message->error, "           ", Traces::show);
  for (const auto& [name, value] : message->stored.message.headers)
    line("header", name + ": " + value);
  return terminal::ExitCode::done;
}

void print_result(const DialogueResult& result, bool json, terminal::Console& console) {
  if (json) {
    print_json(console, boost::json::serialize(boost::json::object{{"retried", result.retried},
                                                                   {"removed", result.removed},
                                                                   {"skipped", result.skipped}}));
  } else {
    fmt::print(console.out, "{} sent again, {} removed, {} left\n", result.retried, result.removed,
               result.skipped);
  }
}

}  // namespace errand::cli
