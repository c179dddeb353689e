#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>

namespace errand::cli {

/// A file named on the command line, or standard input for `-`.
class Input {
 public:
  /// Throws ConfigurationException if the file cannot be opened.
  Input(const std::string& name, std::istream& standard_input);

  /// `standard input` or the file's name, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// In bytes, where it is known.
  [[nodiscard]] std::optional<std::uintmax_t> size() const noexcept { return size_; }

  /// Everything; throws ValidationException if it is longer than kMaxDocumentBytes.
  [[nodiscard]] std::string read_all();

  /// The next line without its end, nullopt after the last. Throws ValidationException if a line
  /// is longer than kMaxDocumentBytes, so that no input can take all memory.
  [[nodiscard]] std::optional<std::string> read_line();

  /// How many lines read_line() has given.
  [[nodiscard]] std::int64_t line_number() const noexcept { return line_number_; }

  /// How many bytes read_line() has passed.
  [[nodiscard]] std::uintmax_t position() const noexcept { return position_; }

 private:
  std::string name_;
  std::ifstream file_;
  std::istream* stream_;
  std::optional<std::uintmax_t> size_;
  std::int64_t line_number_ = 0;
  std::uintmax_t position_ = 0;
};

}  // namespace errand::cli
