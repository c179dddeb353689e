#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/failure_transport.hpp"
#include "cli/failure_filter.hpp"
#include "cli/retry_dialogue.hpp"
#include "cli/transport_options.hpp"
#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

/// The commands below `failed` for messages in a failure transport.
namespace errand::cli {

using detail::FailedMessage;
using detail::FailureTransport;
using detail::MessageFilter;

/// What of the filter of tasks means something for messages. Throws ConfigurationException if it
/// asks for a queue: a failure transport is one.
[[nodiscard]] MessageFilter message_filter(const FailureFilter& filter);

/// Throws ConfigurationException for what is no id of a task: it may be one of a message, whose
/// failure transport has to be named.
void require_task_ids(const std::vector<std::string>& ids);

/// By id, or by filter if there are no ids.
struct ChosenMessages {
  std::vector<std::string> ids;
  MessageFilter filter;
};

/// For people or programs.
void print_result(const DialogueResult& result, bool json, terminal::Console& console);

terminal::ExitCode list_failed_messages(const TransportChoice& from, const MessageFilter& filter,
                                        bool stats, bool json, terminal::Console& console);
terminal::ExitCode show_failed_message(const TransportChoice& from, const std::string& id,
                                       bool json, terminal::Console& console);

/// Sends them to `to`, or back to the transports they failed in if that is empty; then they are
/// removed here.
terminal::ExitCode retry_failed_messages(const TransportChoice& from, const std::string& to,
                                         const ChosenMessages& chosen, bool json,
                                         terminal::Console& console);
/// The same one by one, as a person answers.
terminal::ExitCode ask_about_failed_messages(const TransportChoice& from, const std::string& to,
                                             const ChosenMessages& chosen, bool json,
                                             terminal::Console& console);
terminal::ExitCode remove_failed_messages(const TransportChoice& from, const ChosenMessages& chosen,
                                          bool json, terminal::Console& console);

}  // namespace errand::cli
