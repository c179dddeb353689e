#include "terminal/output_stream.hpp"

#include <cerrno>
#include <unistd.h>

namespace errand::terminal {

OutputException::OutputException(int error)
    : std::system_error{error, std::generic_category(), "cannot write to standard output"} {}

bool OutputException::reader_is_gone() const noexcept { return code().value() == EPIPE; }

OutputBuffer::OutputBuffer(int descriptor) : descriptor_{descriptor} {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

OutputBuffer::int_type OutputBuffer::overflow(int_type next) {
  write_out();
  if (!traits_type::eq_int_type(next, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(next);
    pbump(1);
  }
  return traits_type::not_eof(next);
}

int OutputBuffer::sync() {
  write_out();
  return 0;
}

void OutputBuffer::write_out() {
  const char* from = pbase();
  const char* const end = pptr();
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  while (from != end) {
    const ssize_t written = ::write(descriptor_, from, static_cast<std::size_t>(end - from));
    if (written >= 0) {
      from += written;
    } else if (errno != EINTR) {
      throw OutputException{errno};
    }
  }
}

}  // namespace errand::terminal
