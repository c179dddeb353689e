#include "cli/input.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <ios>

#include "errand/errors.hpp"
#include "errand/task.hpp"

#include "terminal/display.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

[[noreturn]] void throw_unreadable(const std::string& name, int error) {
  throw ConfigurationException{
      fmt::format("cannot read {}: {}", terminal::printable(name), std::strerror(error))};
}

[[noreturn]] void throw_too_long(const std::string& where) {
  throw ValidationException{fmt::format("{} is longer than the {} bytes a document may have",
                                        terminal::printable(where),
                                        terminal::format_count(kMaxDocumentBytes))};
}

}  // namespace

Input::Input(const std::string& name, std::istream& standard_input)
    : name_{name == "-" ? "standard input" : name}, stream_{&standard_input} {
  if (name == "-") return;
  errno = 0;
  file_.open(name, std::ios::binary);
  if (!file_) throw_unreadable(name, errno);
  stream_ = &file_;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored)) {
    const std::uintmax_t size = std::filesystem::file_size(name, ignored);
    if (!ignored) size_ = size;
  }
}

std::string Input::read_all() {
  std::string text;
  std::string chunk(std::size_t{64} * 1024, '\0');
  errno = 0;
  while (*stream_) {
    stream_->read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk, 0, static_cast<std::size_t>(stream_->gcount()));
    if (text.size() > kMaxDocumentBytes) throw_too_long(name_);
  }
  if (stream_->bad()) throw_unreadable(name_, errno);
  return text;
}

std::optional<std::string> Input::read_line() {
  std::string line;
  bool anything = false;
  errno = 0;
  try {
    std::streambuf& buffer = *stream_->rdbuf();
    while (true) {
      const auto next = buffer.sbumpc();
      if (next == std::streambuf::traits_type::eof()) break;
      anything = true;
      ++position_;
      if (next == '\n') break;
      line += std::streambuf::traits_type::to_char_type(next);
      if (line.size() > kMaxDocumentBytes) {
        throw_too_long(fmt::format("line {} of {}", line_number_ + 1, name_));
      }
    }
  } catch (const std::ios_base::failure&) {
    throw_unreadable(name_, errno);
  }
  if (!anything) return std::nullopt;
  ++line_number_;
  return line;
}

}  // namespace errand::cli
