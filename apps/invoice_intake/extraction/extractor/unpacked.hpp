#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace errand::invoices {

/// The bytes of something that was packed or encoded.
struct Unpacked {
  std::string bytes;
  bool too_large = false;  ///< more than allowed; there are no bytes then
  bool damaged = false;    ///< the bytes are those before the damage
};

/// At most `most` bytes, whatever the sender says about the size. `read(data, size)` gives the next
/// ones: returns how many, 0 at the end, less if it is damaged.
template <class Read>
[[nodiscard]] Unpacked unpack(std::int64_t most, Read&& read) {
  Unpacked unpacked;
  std::array<char, 65536> chunk;
  while (true) {
    const std::int64_t count = read(chunk.data(), chunk.size());
    if (count < 0) unpacked.damaged = true;
    if (count <= 0) return unpacked;
    if (static_cast<std::int64_t>(unpacked.bytes.size()) + count > most) {
      unpacked.too_large = true;
      unpacked.bytes.clear();
      return unpacked;
    }
    unpacked.bytes.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace errand::invoices
