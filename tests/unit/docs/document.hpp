#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace errand::testing {

/// The text of a file of the source tree.
inline std::string read_document(const std::string& name) {
  std::ifstream file{std::string{ERRAND_SOURCE_DIR "/"} + name, std::ios::binary};
  if (!file) throw std::runtime_error{"cannot read " + name};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

}  // namespace errand::testing
