#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "invoice_intake/intake/originals.hpp"
#include "invoice_intake/mail/message.hpp"
#include "invoice_intake/model/email_task.hpp"
#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

/// What became of one e-mail, or one batch of files, for one user.
struct IntakeOutcome {
  enum class Status : std::uint8_t {
    created,  ///< a task is stored, and a worker will come to it
    known,    ///< the user has a task for that e-mail already
    refused,  ///< see `reason`; nothing is stored
  };
  Status status = Status::refused;
  std::string source{};  ///< the file's name, or where it came from
  std::optional<EmailTaskId> task{};
  std::string user{};  ///< address
  std::string subject{};
  std::string reason{};
};

[[nodiscard]] std::string_view to_string(IntakeOutcome::Status status) noexcept;

/// What of an e-mail is kept: both SHA-256.
struct KeptMail {
  std::string original{};
  std::string body_sha256{};  ///< without the headers, which servers on the way add to
};

/// Takes e-mails and files in: keeps the original, stores the task, submits its processing, the
/// last two in one transaction. An e-mail with the Message-ID and the body of another one is that
/// one; with the Message-ID alone it is a task of its own. What returned `created` or `known` is
/// stored and need not be kept where it came from. Thread-safe.
class Intake {
 public:
  /// Both must outlive this.
  Intake(Database& database, const Originals& originals)
      : database_{database}, originals_{originals} {}

  /// One e-mail, for `user`, or else for each user that its addresses name: where servers say they
  /// delivered it, if that is somebody's; To and Cc if not. `source` is for people. Throws
  /// StorageException; std::system_error if the original cannot be kept.
  std::vector<IntakeOutcome> take_mail(std::string_view bytes, const std::string& source,
                                       const std::optional<Profile>& user);

  /// Files that are no e-mails, as one task of type batch_import; known if the user has a task for
  /// just these files.
  IntakeOutcome take_files(const std::vector<std::filesystem::path>& files, const Profile& user);

 private:
  std::vector<Profile> users_of(const Message& message);
  IntakeOutcome store_mail(const Message& message, const KeptMail& kept, const std::string& source,
                           const Profile& user);

  Database& database_;
  const Originals& originals_;
};

/// A file to take in that cannot be read.
class UnreadableFile : public std::system_error {
 public:
  using std::system_error::system_error;
};

/// The whole file. Throws ValidationException if it is larger than kLargestMessage, UnreadableFile.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

}  // namespace errand::invoices
