#include "invoice_intake/intake/maildir.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <sys/inotify.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;

/// Tells that a directory got a file.
class Arrivals {
 public:
  explicit Arrivals(const std::filesystem::path& directory)
      : descriptor_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)} {
    if (descriptor_ < 0 ||
        inotify_add_watch(descriptor_, directory.c_str(), IN_MOVED_TO | IN_CREATE) < 0) {
      throw std::system_error{errno, std::generic_category(), directory.string()};
    }
  }
  ~Arrivals() { close(descriptor_); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  void wait(const Stop& stop, std::chrono::milliseconds timeout) const {
    if (!stop.wait(descriptor_, timeout)) return;
    std::array<char, 4096> events{};
    while (read(descriptor_, events.data(), events.size()) > 0) {
    }
  }

 private:
  int descriptor_;
};

/// Oldest name first, which is the order of delivery by convention.
std::vector<std::filesystem::path> new_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{directory / "new"}) {
    std::error_code unknown;  // a file that cannot even be looked at is refused when it is read
    if ((entry.is_regular_file(unknown) || unknown) &&
        !entry.path().filename().string().starts_with(".")) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

class MaildirIntake {
 public:
  MaildirIntake(const std::filesystem::path& directory, Intake& intake,
                const std::optional<Profile>& user, const TellOutcome& tell)
      : directory_{directory}, intake_{intake}, user_{user}, tell_{tell} {}

  void go_through(const Stop& stop) {
    for (const std::filesystem::path& file : new_files(directory_)) {
      if (stop.requested()) return;
      if (!refused_.contains(file.filename())) take(file);
    }
  }

 private:
  void take(const std::filesystem::path& file) {
    std::vector<IntakeOutcome> outcomes;
    try {
      const std::string bytes = read_file(file);
      outcomes = intake_.take_mail(bytes, file.string(), user_);
    } catch (const ValidationException& error) {
      outcomes.push_back({.source = file.string(), .reason = error.what()});
    } catch (const UnreadableFile& error) {
      // Another reader of the same Maildir was quicker.
      if (error.code() == std::errc::no_such_file_or_directory) return;
      outcomes.push_back({.source = file.string(), .reason = error.what()});
    }
    bool stored = true;
    for (const IntakeOutcome& outcome : outcomes) {
      stored = stored && outcome.status != IntakeOutcome::Status::refused;
      tell_(outcome);
    }
    if (stored) {
      std::error_code gone;
      std::filesystem::rename(file, directory_ / "cur" / (file.filename().string() + ":2,"), gone);
      if (gone && gone != std::errc::no_such_file_or_directory) {
        throw std::system_error{gone, file.string()};
      }
    } else {
      refused_.insert(file.filename());
    }
  }

  const std::filesystem::path& directory_;
  Intake& intake_;
  const std::optional<Profile>& user_;
  const TellOutcome& tell_;
  std::set<std::filesystem::path> refused_;  ///< told once; they stay where they are
};

}  // namespace

void take_maildir(const std::filesystem::path& directory, Intake& intake,
                  const std::optional<Profile>& user, bool watch, const Stop& stop,
                  const TellOutcome& tell, Logger& logger) {
  if (!std::filesystem::is_directory(directory / "new") ||
      !std::filesystem::is_directory(directory / "cur")) {
    throw ConfigurationException{directory.string() +
                                 " is not a Maildir: it has no directories new and cur"};
  }
  const Arrivals arrivals{directory / "new"};
  MaildirIntake mailbox{directory, intake, user, tell};
  auto pause = 60'000ms;  // also without an event: network file systems send none
  while (true) {
    try {
      mailbox.go_through(stop);
      pause = 60'000ms;
    } catch (const StorageException& error) {
      if (!watch || error.retry() == StorageException::Retry::useless) throw;
      pause = 2'000ms;
      logger.warning(std::string{error.what()} + "; trying again");
    } catch (const std::system_error& error) {
      // No room for originals, or a disk that fails: it may pass, and nothing is lost meanwhile.
      if (!watch) throw;
      pause = 10'000ms;
      logger.warning(std::string{error.what()} + "; trying again");
    }
    if (!watch || stop.requested()) return;
    arrivals.wait(stop, pause);
    if (stop.requested()) return;
  }
}

}  // namespace errand::invoices
