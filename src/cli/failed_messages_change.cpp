#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <fmt/ostream.h>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

#include "cli/failed_messages.hpp"
#include "cli/report.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/wording.hpp"

/// `errand failed retry` and `errand failed remove` for messages.
namespace errand::cli {
namespace {

std::string format_messages(std::int64_t count) {
  return terminal::format_count(count) + (count == 1 ? " message" : " messages");
}

/// Where retried messages went.
class Destinations {
 public:
  void add(const std::string& transport) {
    ++counts_[transport];
    ++total_;
  }

  /// `2 messages to async`, `3 messages: 2 to async, 1 to mail`
  [[nodiscard]] std::string for_people() const {
    std::string text = format_messages(total_);
    if (counts_.size() == 1) return text + " to " + terminal::printable(counts_.begin()->first);
    const char* separator = ": ";
    for (const auto& [transport, count] : counts_) {
      text += separator + terminal::format_count(count) + " to " + terminal::printable(transport);
      separator = ", ";
    }
    return text;
  }

  [[nodiscard]] boost::json::object for_programs() const {
    boost::json::object to;
    for (const auto& [transport, count] : counts_) to[transport] = count;
    return {{"retried", total_}, {"to", std::move(to)}};
  }

 private:
  std::map<std::string, std::int64_t> counts_;
  std::int64_t total_ = 0;
};

/// The ids of the chosen; `look` sees each of them. Those that were named and are not there are
/// told, and give the exit code.
std::vector<std::string> find_chosen(FailureTransport& failures, const ChosenMessages& chosen,
                                     terminal::ExitCode& code, terminal::Console& console,
                                     const std::function<void(const FailedMessage&)>& look) {
  std::vector<std::string> ids;
  const auto take = [&](const FailedMessage& message) {
    look(message);
    ids.push_back(message.stored.id);
  };
  if (chosen.ids.empty()) failures.for_each(chosen.filter, take);
  for (const std::string& id : chosen.ids) {
    if (const auto found = failures.find(id)) {
      take(*found);
    } else {
      fmt::print(console.err, "errand: no message {} in transport {}\n", terminal::printable(id),
                 terminal::printable(failures.transport().name()));
      code = terminal::ExitCode::not_found;
    }
  }
  return ids;
}

/// For messages that are handled, and for those that were when it came to it.
void tell_left_alone(const std::string& id, terminal::Console& console) {
  fmt::print(console.err,
             "errand: message {} is being handled by somebody else: it is left alone\n",
             terminal::printable(id));
}

/// Returns where it went; nullopt if it is not there any more, or left alone, which is told.
std::optional<std::string> send_again(FailureTransport& failures, const std::string& id,
                                      terminal::Console& console) {
  const detail::SecondChance chance = failures.send_again(id);
  if (chance.outcome == detail::SecondChance::Outcome::in_flight) tell_left_alone(id, console);
  if (chance.outcome == detail::SecondChance::Outcome::sent_twice) {
    fmt::print(
        console.err,
        "errand: somebody else took message {} at the same moment: it may be handled twice\n",
        terminal::printable(id));
  }
  return chance.is_sent() ? std::optional{chance.to} : std::nullopt;
}

/// False if it is not there any more, or left alone, which is told.
bool remove(FailureTransport& failures, const std::string& id, terminal::Console& console) {
  if (failures.transport().remove({&id, 1}) == 1) return true;
  if (const std::optional<FailedMessage> message = failures.find(id)) {
    tell_left_alone(message->stored.id, console);
  }
  return false;
}

}  // namespace

terminal::ExitCode retry_failed_messages(const TransportChoice& from, const std::string& to,
                                         const ChosenMessages& chosen, bool json,
                                         terminal::Console& console) {
  detail::OpenTransports transports = from.open(TransportOptions::Open::existing);
  FailureTransport failures{transports, from.name, to, from.holds_failures};
  terminal::ExitCode code = terminal::ExitCode::done;
  // All of them are looked at first: a mistake is told before anything has happened.
  const std::vector<std::string> ids =
      find_chosen(failures, chosen, code, console,
                  [&](const FailedMessage& message) { failures.require_way_back(message); });
  Destinations sent;
  try {
    for (const std::string& id : ids) {
      if (const auto transport = send_again(failures, id, console)) {
        sent.add(*transport);
      } else if (!chosen.ids.empty() && code == terminal::ExitCode::done) {
        code = terminal::ExitCode::failed;
      }
    }
  } catch (...) {
    fmt::print(console.err, "errand: sent again {}, then failed\n", sent.for_people());
    throw;
  }
  if (json) {
    print_json(console, boost::json::serialize(sent.for_programs()));
  } else {
    fmt::print(console.out, "Sent again {}\n", sent.for_people());
  }
  return code;
}

terminal::ExitCode remove_failed_messages(const TransportChoice& from, const ChosenMessages& chosen,
                                          bool json, terminal::Console& console) {
  detail::OpenTransports transports = from.open(TransportOptions::Open::existing);
  FailureTransport failures{transports, from.name, {}, from.holds_failures};
  terminal::ExitCode code = terminal::ExitCode::done;
  const std::vector<std::string> ids =
      find_chosen(failures, chosen, code, console, [](const FailedMessage&) {});
  std::size_t removed = failures.transport().remove(ids);
  // Those that somebody holds are few, if any.
  if (removed < ids.size()) {
    for (const std::string& id : ids) {
      const std::optional<FailedMessage> left = failures.find(id);
      if (!left) continue;
      if (remove(failures, id, console)) {
        ++removed;
      } else if (!chosen.ids.empty() && code == terminal::ExitCode::done) {
        code = terminal::ExitCode::failed;
      }
    }
  }
  if (json) {
    print_json(console, boost::json::serialize(boost::json::object{{"removed", removed}}));
  } else {
    fmt::print(console.out, "Removed {}\n", format_messages(static_cast<std::int64_t>(removed)));
  }
  return code;
}

terminal::ExitCode ask_about_failed_messages(const TransportChoice& from, const std::string& to,
                                             const ChosenMessages& chosen, bool json,
                                             terminal::Console& console) {
  detail::OpenTransports transports = from.open(TransportOptions::Open::existing);
  FailureTransport failures{transports, from.name, to, from.holds_failures};
  terminal::ExitCode code = terminal::ExitCode::done;
  std::vector<Failure> shown;
  static_cast<void>(find_chosen(failures, chosen, code, console, [&](const FailedMessage& message) {
    shown.push_back({.id = message.stored.id,
                     .type = message.type,
                     .where = message.failed_in,
                     .body = message.stored.message.body,
                     .error = message.error});
  }));
  const auto retry = [&](const Failure& failure) {
    try {
      const auto transport = send_again(failures, failure.id, console);
      if (transport) {
        fmt::print(console.err, "Sent again to {}\n", terminal::printable(*transport));
      }
      return transport.has_value();
    } catch (const ConfigurationException&) {
      static_cast<void>(report(std::current_exception(), console));
      return false;
    }
  };
  const auto remove = [&](const Failure& failure) {
    return cli::remove(failures, failure.id, console);
  };
  print_result(go_through(shown, {.retry = retry, .remove = remove}, console), json, console);
  return code;
}

}  // namespace errand::cli
