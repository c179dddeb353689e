#include "invoice_intake/extraction/extractor/event_writer.hpp"

#include <cerrno>
#include <string_view>
#include <unistd.h>

#include "errand/codec.hpp"

namespace errand::invoices {

void write_event(const ExtractorEvent& event) {
  const std::string line = encode(event) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = write(STDOUT_FILENO, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      _exit(1);  // nobody listens
    }
  }
}

}  // namespace errand::invoices
