#include "invoice_intake/extraction/extract.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <system_error>
#include <unistd.h>

#include "errand/codec.hpp"

#include "invoice_intake/extraction/child.hpp"
#include "invoice_intake/extraction/protocol.hpp"

namespace errand::invoices {
namespace {

using Steady = std::chrono::steady_clock;

constexpr const char* kProgram = "errand-invoice-extractor";

bool is_program(const std::filesystem::path& path) { return access(path.c_str(), X_OK) == 0; }

/// An open file; read from its beginning by each child.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path)
      : descriptor_{open(path.c_str(), O_RDONLY | O_CLOEXEC)} {
    if (descriptor_ < 0) {
      throw std::system_error{errno, std::generic_category(), "cannot open " + path.string()};
    }
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(descriptor_); }

  [[nodiscard]] int rewound() const {
    lseek(descriptor_, 0, SEEK_SET);
    return descriptor_;
  }

 private:
  const int descriptor_;
};

/// One extraction: children, one after the other, until the input is read to its end.
class Extraction {
 public:
  Extraction(const std::filesystem::path& file, InputKind kind, const ExtractionOptions& options,
             const std::stop_token& stop)
      : program_{find_extractor(options.extractor)},
        limits_{options.limits},
        input_{file},
        stop_{stop},
        whole_deadline_{Steady::now() + limits_.whole_time} {
    request_.name = file.filename().string();
    request_.mail = kind == InputKind::mail;
    request_.cpu_seconds = limits_.cpu_time.count();
    request_.memory = limits_.memory;
    request_.input = limits_.input;
    request_.decoded = limits_.decoded;
    request_.depth = limits_.depth;
    request_.parts = limits_.parts;
    request_.pages = limits_.pages;
    request_.pixels = limits_.pixels;
    output_left_ = limits_.output;
  }

  ExtractionReport run() {
    while (true) {
      done_ = false;
      current_.reset();
      item_deadline_ = Steady::now() + limits_.attachment_time;
      const ChildEnd end = run_child();
      if (done_) return std::move(report_);
      const ExtractionError error = explain(end);
      if (!current_ || end.how == ChildEnd::How::stopped ||
          end.how == ChildEnd::How::spoke_nonsense || output_left_ <= 0 ||
          Steady::now() >= whole_deadline_) {
        // Not one attachment's fault, or no time for the others.
        if (current_) fail_current(error);
        report_.error = error;
        return std::move(report_);
      }
      fail_current(error);
      request_.first = *current_ + 1;
      request_.skip.push_back(*current_);
    }
  }

 private:
  ChildEnd run_child() {
    ChildSetup setup;
    setup.program = program_;
    setup.argument = encode(request_);
    setup.input = input_.rewound();
    setup.max_output = static_cast<std::size_t>(std::max<std::int64_t>(output_left_, 0));
    try {
      return run_extractor(
          setup, [&](std::string_view line) { return take(line); },
          [&] { return std::min(item_deadline_, whole_deadline_); }, stop_);
    } catch (const std::system_error& error) {
      throw ExtractorUnavailable{error.what(), true};
    }
  }

  bool take(std::string_view line) {
    output_left_ -= static_cast<std::int64_t>(line.size()) + 1;
    try {
      auto event = decode<ExtractorEvent>(line);
      switch (event.event) {
        case EventKind::headers:
          report_.headers = std::move(event.headers);
          return true;
        case EventKind::begin:
          if (!event.index || !event.attachment || *event.index < request_.first) return false;
          current_ = *event.index;
          current_report_ = std::move(*event.attachment);
          item_started_ = Steady::now();
          item_deadline_ = item_started_ + limits_.attachment_time;
          return true;
        case EventKind::end:
          if (event.index != current_) return false;
          if (event.attachment) report_.attachments.push_back(std::move(*event.attachment));
          current_.reset();
          item_deadline_ = Steady::now() + limits_.attachment_time;
          return true;
        case EventKind::done:
          report_.error = std::move(event.error);
          done_ = true;
          return true;
      }
    } catch (const ValidationException&) {
      // Whoever took the child over may write what he likes.
    }
    return false;
  }

  void fail_current(const ExtractionError& error) {
    current_report_.status = AttachmentStatus::failed;
    current_report_.error = error;
    current_report_.milliseconds.total =
        std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - item_started_)
            .count();
    report_.attachments.push_back(current_report_);
  }

  [[nodiscard]] ExtractionError explain(const ChildEnd& end) const {
    const std::string said = end.errors.empty() ? "" : ": " + end.errors;
    switch (end.how) {
      case ChildEnd::How::timed_out:
        return {"time_limit",
                "reading it took longer than " +
                    std::to_string((Steady::now() >= whole_deadline_ ? limits_.whole_time
                                                                     : limits_.attachment_time)
                                       .count() /
                                   1000) +
                    " s",
                false};
      case ChildEnd::How::stopped:
        return {"stopped", "the program is stopping", true};
      case ChildEnd::How::output_too_large:
        return {"output_limit",
                "what was found is larger than " + std::to_string(limits_.output >> 20) + " MiB",
                false};
      case ChildEnd::How::spoke_nonsense:
        return {"extractor_error", "the extractor's answer makes no sense" + said, false};
      case ChildEnd::How::signalled:
        if (end.code == SIGXCPU || end.code == SIGKILL) {
          return {"cpu_limit",
                  "reading it took more than " + std::to_string(limits_.cpu_time.count()) +
                      " s of processor time, or the system was short of memory",
                  end.code == SIGKILL};
        }
        return {"extractor_crashed",
                std::string{"the extractor crashed on it ("} + strsignal(end.code) + ")" + said,
                false};
      case ChildEnd::How::exited:
        break;
    }
    return {"extractor_error", "the extractor ended with status " + std::to_string(end.code) + said,
            end.code == 2};
  }

  const std::filesystem::path program_;
  const ExtractionLimits& limits_;
  const InputFile input_;
  const std::stop_token& stop_;
  const Steady::time_point whole_deadline_;
  ExtractorRequest request_;
  ExtractionReport report_;
  std::int64_t output_left_ = 0;
  bool done_ = false;
  std::optional<std::int64_t> current_;  ///< the item that the child is at
  AttachmentReport current_report_;
  Steady::time_point item_started_;
  Steady::time_point item_deadline_;
};

}  // namespace

std::filesystem::path find_extractor(const std::filesystem::path& given) {
  if (!given.empty()) {
    if (is_program(given)) return given;
    throw ExtractorUnavailable{"cannot run the extractor " + given.string() + ": " +
                                   std::generic_category().message(errno),
                               false};
  }
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& candidate : {here / kProgram, here / "../libexec/errand" / kProgram}) {
    if (is_program(candidate)) return candidate;
  }
  if (const char* named = std::getenv("ERRAND_INVOICE_EXTRACTOR")) return find_extractor(named);
  throw ExtractorUnavailable{std::string{kProgram} + " is not beside this program, nor in " +
                                 (here / "../libexec/errand").lexically_normal().string() +
                                 "; name it with ERRAND_INVOICE_EXTRACTOR",
                             false};
}

ExtractionReport extract(const std::filesystem::path& file, InputKind kind,
                         const ExtractionOptions& options, const std::stop_token& stop) {
  return Extraction{file, kind, options, stop}.run();
}

}  // namespace errand::invoices
