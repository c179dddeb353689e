// errand-invoice-extractor: reads one message or file on standard input, in a sandbox, and writes
// what it finds as lines of JSON. Started by extract(); not for people.
//
// This program links poppler, which is under the GNU General Public License, and so is this program
// as a whole, under version 3: see COPYING. It is a process of its own: the library and the other
// programs do not link it.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <unistd.h>

#include "errand/codec.hpp"

#include "invoice_intake/extraction/extractor/event_writer.hpp"
#include "invoice_intake/extraction/extractor/ocr.hpp"
#include "invoice_intake/extraction/extractor/read_document.hpp"
#include "invoice_intake/extraction/extractor/sandbox.hpp"
#include "invoice_intake/extraction/extractor/walk.hpp"

// The sandbox forbids what the leak checker does at the end.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT

namespace {

using namespace errand::invoices;

constexpr std::string_view kHelp =
    R"(errand-invoice-extractor REQUEST < FILE
errand-invoice-extractor --probe

Reads the message or document on standard input in a sandbox and writes what it
finds as lines of JSON. It is started by errand-invoices; to look at one file, use

  errand-invoices extract FILE

--probe   enter the sandbox, try what it forbids, and tell what was refused;
          exit status 0 if all was
)";

int probe() {
  enter_sandbox({.cpu_seconds = 10, .memory = std::int64_t{1} << 30});
  bool all_refused = true;
  for (const Probe& probe : probe_sandbox()) {
    std::printf("%-16s %s\n", probe.what.c_str(), probe.refused ? "refused" : "ALLOWED");
    all_refused = all_refused && probe.refused;
  }
  std::fflush(stdout);
  return all_refused ? 0 : 1;
}

int extract_input(std::string_view argument) {
  const auto request = errand::decode<ExtractorRequest>(argument);
  enter_sandbox({.cpu_seconds = request.cpu_seconds, .memory = request.memory});
  Ocr ocr;
  ExtractorEvent done;
  done.event = EventKind::done;
  try {
    done.error = walk(STDIN_FILENO, request,
                      [&](Document& document) { read_document(document, request, ocr); });
  } catch (const std::bad_alloc&) {
    done.error =
        ExtractionError{"memory_limit", "unpacking it takes more memory than is allowed", false};
  }
  write_event(done);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_ALL, "C.UTF-8");
  if (argc != 2 || std::string_view{argv[1]} == "--help") {
    std::fputs(kHelp.data(), argc == 2 ? stdout : stderr);
    return argc == 2 ? 0 : 2;
  }
  // Threads of OpenMP would be refused in the sandbox; it looks at this when the program starts.
  if (std::getenv("OMP_THREAD_LIMIT") == nullptr) {
    setenv("OMP_THREAD_LIMIT", "1", 1);
    execv("/proc/self/exe", argv);
  }
  try {
    if (std::string_view{argv[1]} == "--probe") return probe();
    const int status = extract_input(argv[1]);
    // Parsers' static objects need no clean-up, and have no right to crash now.
    _exit(status);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "errand-invoice-extractor: %s\n", error.what());
    return 2;
  }
}
