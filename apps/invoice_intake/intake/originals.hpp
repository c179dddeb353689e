#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace errand::invoices {

/// E-mails and files as they came, each under the SHA-256 of its content: kept once however often
/// it comes, and never changed. Thread-safe, also between processes.
class Originals {
 public:
  /// Makes the directory. Throws ConfigurationException if it cannot.
  explicit Originals(std::filesystem::path directory);

  /// Durable on return. Returns the SHA-256. Throws std::system_error.
  std::string keep(std::string_view bytes) const;

  /// Where the original is, if it is there. Throws ValidationException for what is no SHA-256.
  [[nodiscard]] std::filesystem::path path_of(const std::string& sha256) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace errand::invoices
