#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace errand::invoices {

struct RemovedOriginals {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

/// E-mails and files as they came, each under the SHA-256 of its content: kept once however often
/// it comes, and never changed. Thread-safe, also between processes.
class Originals {
 public:
  /// Makes the directory. Throws ConfigurationException if it cannot.
  explicit Originals(std::filesystem::path directory);

  /// Durable on return. Returns the SHA-256. Throws std::system_error.
  std::string keep(std::string_view bytes) const;

  /// Removes the originals that are not in `needed` and that nobody kept within the last day: their
  /// tasks may be about to be stored. With `dry_run` it only counts. Throws std::system_error.
  RemovedOriginals remove_all_but(const std::set<std::string>& needed, bool dry_run) const;

  /// Where the original is, if it is there. Throws ValidationException for what is no SHA-256.
  [[nodiscard]] std::filesystem::path path_of(const std::string& sha256) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace errand::invoices
