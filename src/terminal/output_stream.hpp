#pragma once

#include <array>
#include <cstddef>
#include <streambuf>
#include <system_error>

namespace errand::terminal {

/// Standard output did not take what was written.
class OutputException : public std::system_error {
 public:
  explicit OutputException(int error);

  /// A pipe whose other end was closed, as by `head`: nothing to complain about.
  [[nodiscard]] bool reader_is_gone() const noexcept;
};

/// A stream buffer over a descriptor that tells why a write failed, which standard streams do not.
/// A stream over it throws OutputException if its exceptions() include badbit.
class OutputBuffer final : public std::streambuf {
 public:
  explicit OutputBuffer(int descriptor);

 protected:
  int_type overflow(int_type next) override;
  int sync() override;

 private:
  void write_out();

  int descriptor_;
  std::array<char, std::size_t{16} * 1024> buffer_{};
};

}  // namespace errand::terminal
