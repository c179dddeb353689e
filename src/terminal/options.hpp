#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/cli11_fwd.hpp"
#include "terminal/exit_code.hpp"

/// How programs say what they take from the command line: one wording for what several share, and
/// one way to refuse a wrong value. Commands do not include CLI11 themselves: it takes the compiler
/// longer than all the rest of them.
///
/// The name of an option's value says how shells complete it: kFileName by files, one that is
/// one_of() some words by those.
namespace errand::terminal {

inline constexpr const char* kFileName = "FILE";

/// How the value of a duration is called; the help says once what it may be.
inline constexpr const char* kTimeName = "TIME";

/// The highest value of a number that may be as high as one likes.
inline constexpr std::int64_t kNoHighest = std::numeric_limits<std::int64_t>::max();

/// The help's group of what all commands have; it comes last.
inline constexpr const char* kCommonOptions = "Common options";

/// An option just added; what more there is to say of it.
class AddedOption {
 public:
  explicit AddedOption(CLI::Option& option) : option_{&option} {}

  AddedOption& required();
  AddedOption& excludes(const AddedOption& other);
  AddedOption& one_of(const std::vector<std::string>& words);
  AddedOption& comma_separated();

  /// Refuses an empty value, which most likely comes from a variable that was never set.
  AddedOption& not_empty();

  /// One of kCommonOptions.
  AddedOption& common();

 private:
  CLI::Option* option_;
};

/// A subcommand of `parent` in the help's group `group`.
CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& purpose,
                      const std::string& group = "Commands");

/// It does nothing itself: one of the commands below it must follow.
void require_command(CLI::App& group);

/// What the help ends with.
void add_examples(CLI::App& command, std::initializer_list<std::string_view> lines);

/// An argument: what stands on the command line without an option's name.
AddedOption add_argument(CLI::App& command, const std::string& name, std::string& value,
                         const std::string& description);
AddedOption add_argument(CLI::App& command, const std::string& name,
                         std::optional<std::string>& value, const std::string& description);
AddedOption add_argument(CLI::App& command, const std::string& name,
                         std::vector<std::string>& values, const std::string& description);

AddedOption add_flag(CLI::App& command, const std::string& name, bool& value,
                     const std::string& description);

/// A flag that may have a value, but only after an equals sign: `true` if it has none.
AddedOption add_flag(CLI::App& command, const std::string& name, std::string& value,
                     const std::string& value_name, const std::string& description);

AddedOption add_text(CLI::App& command, const std::string& name, std::string& value,
                     const std::string& value_name, const std::string& description);
AddedOption add_text(CLI::App& command, const std::string& name, std::optional<std::string>& value,
                     const std::string& value_name, const std::string& description);

/// May be given several times, each time with one value: what follows is not swallowed.
AddedOption add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& value_name, const std::string& description);

AddedOption add_duration(CLI::App& command, const std::string& name,
                         std::chrono::milliseconds& value, const std::string& description);
AddedOption add_duration(CLI::App& command, const std::string& name,
                         std::optional<std::chrono::milliseconds>& value,
                         const std::string& description);

/// A whole number of `lowest` to `highest`: an option, or an argument if the name is a plain word.
AddedOption add_number(CLI::App& command, const std::string& name, std::int64_t& value,
                       std::int64_t lowest, std::int64_t highest, const std::string& description);
AddedOption add_number(CLI::App& command, const std::string& name,
                       std::optional<std::int64_t>& value, std::int64_t lowest,
                       std::int64_t highest, const std::string& description);

/// A number of `lowest` to `highest`, with a fraction if wanted.
AddedOption add_number(CLI::App& command, const std::string& name, double& value, double lowest,
                       double highest, const std::string& description);

void add_json(CLI::App& command, bool& json);

/// When `command` is named on the command line, parsing stores `function` in `named`, for
/// the program to call.
void runs(CLI::App& command, std::function<ExitCode()>& named, std::function<ExitCode()> function);

/// The same with the options that were bound to `*options`.
template <class Options, class Invocation>
void runs(CLI::App& command, Invocation& invocation, const std::shared_ptr<Options>& options,
          ExitCode (*function)(const Options&, Invocation&)) {
  runs(command, invocation.command,
       [&invocation, options, function] { return function(*options, invocation); });
}

/// Whether one option came before another; also if the other did not come at all.
[[nodiscard]] bool typed_before(const CLI::App& command, const std::string& first,
                                const std::string& second);

}  // namespace errand::terminal
