#include "worker/throw_site.hpp"

#define BOOST_STACKTRACE_LINK
#include <array>
#include <boost/stacktrace/frame.hpp>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>

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

bool is_library_file(std::string_view file) {
  return file.empty() || file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

void add_site(ExceptionData& data, const Note& note) {
  int number = 0;
  for (int i = 0; i < note.frames; ++i) {
    // A return address belongs to the line after the call; one byte earlier is the call itself.
    const auto* address = static_cast<const char*>(note.addresses[static_cast<std::size_t>(i)]) - 1;
    const boost::stacktrace::frame frame{address};
    const std::string name = frame.name();
    // Above: this file and the throw itself. Below: the worker, which nobody asked about.
    if (number == 0 && (name.find("take_note") != std::string::npos || name == "__cxa_throw")) {
      continue;
    }
    if (name.starts_with("errand::detail::Executor::")) break;
    const std::string file = frame.source_file();
    if (data.file.empty() && !is_library_file(file)) {
      data.file = file;
      data.line = static_cast<std::int64_t>(frame.source_line());
    }
    data.trace += fmt::format("#{} {}", number++, name.empty() ? "??" : name);
    if (!file.empty()) data.trace += fmt::format(" at {}:{}", file, frame.source_line());
    data.trace += '\n';
  }
  if (!data.trace.empty()) data.trace.pop_back();
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

ThrowSiteScope::ThrowSiteScope() noexcept { ++notes.scopes; }
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
extern "C" [[noreturn]] __attribute__((visibility("default"))) void __cxa_throw(
    void* exception, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const Throw next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  errand::detail::note_throw(exception);
  next(exception, type, destroy);
  std::abort();  // the runtime's function does not return
}
