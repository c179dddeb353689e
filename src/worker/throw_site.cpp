#include "worker/throw_site.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/demangle.hpp"

/// libbacktrace comes with the compiler, its header in a folder that only GCC looks into. These are
/// the three of its functions used here; its interface has not changed since GCC 5.
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void* data, const char* message, int number);
using backtrace_full_callback = int (*)(void* data, std::uintptr_t address, const char* file,
                                        int line, const char* function);
using backtrace_syminfo_callback = void (*)(void* data, std::uintptr_t address, const char* name,
                                            std::uintptr_t value, std::uintptr_t size);
backtrace_state* backtrace_create_state(const char* program, int threaded,
                                        backtrace_error_callback on_error, void* data);
int backtrace_pcinfo(backtrace_state* state, std::uintptr_t address,
                     backtrace_full_callback on_frame, backtrace_error_callback on_error,
                     void* data);
int backtrace_syminfo(backtrace_state* state, std::uintptr_t address,
                      backtrace_syminfo_callback on_symbol, backtrace_error_callback on_error,
                      void* data);
}

namespace errand::detail {
namespace {

constexpr std::size_t kMaxFrames = 48;
constexpr std::size_t kMaxNotes = 16;  // a chain of nested exceptions throws once a level

struct Note {
  const void* exception = nullptr;
  int frames = 0;
  std::array<void*, kMaxFrames> addresses{};
};

/// The newest throws of a thread.
struct Notes {
  int scopes = 0;
  std::size_t next = 0;
  std::array<Note, kMaxNotes> ring;
};

thread_local Notes notes;

void take_note(const void* exception) noexcept {
  if (notes.scopes == 0) return;
  Note& note = notes.ring[notes.next++ % kMaxNotes];
  note.exception = exception;
  note.frames = backtrace(note.addresses.data(), static_cast<int>(kMaxFrames));
}

const Note* note_of(const std::exception_ptr& error) noexcept {
  // libstdc++'s exception_ptr is one pointer, to the thrown object.
  static_assert(sizeof(std::exception_ptr) == sizeof(void*));
  const void* object = nullptr;
  std::memcpy(&object, static_cast<const void*>(&error), sizeof object);
  // An address may have been used before: the newest note counts.
  for (std::size_t age = 1; age <= kMaxNotes && age <= notes.next; ++age) {
    const Note& note = notes.ring[(notes.next - age) % kMaxNotes];
    if (note.exception == object) return &note;
  }
  return nullptr;
}

/// One call, of which an address has several where functions were inlined.
struct Frame {
  std::string function;
  std::string file;
  int line = 0;
};

/// Debug information is read once, when the first failure is described, and by one thread at a
/// time: libbacktrace's own ways of sharing it are beyond what a thread sanitizer can follow.
backtrace_state* debug_information() {
  static backtrace_state* const state = backtrace_create_state(
      nullptr, 0, [](void*, const char*, int) {}, nullptr);
  return state;
}
std::mutex debug_information_mutex;

/// Innermost first. Without debug information: the symbol's name alone.
std::vector<Frame> frames_at(std::uintptr_t address) {
  std::vector<Frame> frames;
  const auto on_error = [](void*, const char*, int) {};
  backtrace_pcinfo(
      debug_information(), address,
      [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
        if (function != nullptr || file != nullptr) {
          static_cast<std::vector<Frame>*>(data)->push_back(Frame{
              function != nullptr ? demangle(function) : "", file != nullptr ? file : "", line});
        }
        return 0;
      },
      on_error, &frames);
  if (frames.empty()) {
    backtrace_syminfo(
        debug_information(), address,
        [](void* data, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
          if (name != nullptr) {
            static_cast<std::vector<Frame>*>(data)->push_back(Frame{demangle(name), "", 0});
          }
        },
        on_error, &frames);
  }
  return frames;
}

/// In whose sources nobody looks for the reason of a failure.
bool is_of_a_library(const Frame& frame) {
  return frame.file.starts_with("/usr/include/") || frame.file.starts_with("/usr/lib/") ||
         (frame.file.empty() && frame.function.starts_with("std::"));
}

/// Below the handler: the worker, and how it calls handlers and commands.
bool is_calling_handlers(const Frame& frame) {
  return frame.function.starts_with("errand::Handlers::") ||
         frame.function.starts_with("errand::detail::Executor::") ||
         frame.function.starts_with("errand::detail::exec_handler(") ||
         frame.file.ends_with("errand/handler.hpp") || frame.file.ends_with("src/bus/handlers.cpp");
}

/// From the throw out to the handler.
std::vector<Frame> frames_of(const Note& note) {
  const std::lock_guard lock{debug_information_mutex};
  std::vector<Frame> frames;
  for (int i = 0; i < note.frames; ++i) {
    // A return address belongs to the line after the call; one byte earlier is the call itself.
    const auto address =
        reinterpret_cast<std::uintptr_t>(note.addresses[static_cast<std::size_t>(i)]) - 1;
    for (Frame& frame : frames_at(address)) {
      if (is_calling_handlers(frame)) return frames;
      if (frame.function == "__cxa_throw") {
        frames.clear();  // those were taking the note
      } else {
        frames.push_back(std::move(frame));
      }
    }
  }
  return frames;
}

void add_site(ExceptionData& data, const Note& note) {
  int number = 0;
  bool site_known = false;
  for (const Frame& frame : frames_of(note)) {
    // Between the handler and its caller the standard library has steps nobody wants to read.
    if (site_known && frame.file.starts_with("/usr/include/c++/")) continue;
    // The innermost frame of the program itself: if that has no debug information, no file is
    // better than its caller's.
    if (!site_known && !is_of_a_library(frame)) {
      data.file = frame.file;
      data.line = frame.line;
      site_known = true;
    }
    if (number > 0) data.trace += '\n';
    data.trace += fmt::format("#{} {}", number++, frame.function.empty() ? "??" : frame.function);
    if (!frame.file.empty()) data.trace += fmt::format(" at {}:{}", frame.file, frame.line);
  }
}

std::exception_ptr nested_in(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::nested_exception& nested) {
    return nested.nested_ptr();
  } catch (...) {
    return nullptr;
  }
}

void add_sites(ExceptionData& data, const std::exception_ptr& error) {
  if (const Note* note = note_of(error)) add_site(data, *note);
  if (!data.previous) return;
  const std::exception_ptr inner = nested_in(error);
  if (!inner) return;
  ExceptionData previous = *data.previous;
  add_sites(previous, inner);
  data.previous = std::make_shared<const ExceptionData>(std::move(previous));
}

}  // namespace

ThrowSiteScope::ThrowSiteScope() noexcept {
  // Notes of the handler before are of exceptions whose memory serves others now.
  if (notes.scopes++ == 0) notes.next = 0;
}
ThrowSiteScope::~ThrowSiteScope() { --notes.scopes; }

ExceptionData describe_with_throw_sites(const std::exception_ptr& error) {
  ExceptionData data = describe_exception(error);
  add_sites(data, error);
  return data;
}

/// For the C function below, which cannot see into the anonymous namespace.
void note_throw(const void* exception) noexcept { take_note(exception); }

}  // namespace errand::detail

/// Stands before the C++ runtime's own function of this name, notes the throw and goes on there.
/// It is the one place every throw passes, those inside libraries included, while its stack is
/// still whole.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the runtime's own name
extern "C" [[noreturn]] __attribute__((visibility("default"))) void __cxa_throw(
    void* exception, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  if (next == nullptr) {
    constexpr std::string_view kWhy =
        "errand: no __cxa_throw behind this one: the C++ runtime must be a shared library\n";
    static_cast<void>(write(STDERR_FILENO, kWhy.data(), kWhy.size()) == 0);
    std::abort();
  }
  errand::detail::note_throw(exception);
  next(exception, type, destroy);
  std::abort();  // the runtime's function does not return
}
