#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "errand/errors.hpp"

#include "invoice_intake/intake/stop.hpp"

namespace errand::invoices {

/// Where a mailbox is, and how to get in.
struct ImapAccount {
  std::string host{};
  int port = 993;
  bool tls = true;  ///< from the first byte; else STARTTLS, which only this machine may lack
  std::string user{};
  std::string mailbox = "INBOX";
  std::string password{};
  std::string ca_file{};  ///< of who signed the server's certificate; empty: the system's

  /// For people: imaps://user@host:993/INBOX.
  [[nodiscard]] std::string name() const;
};

/// Reads `imaps://user@host[:port][/mailbox]`. Throws ConfigurationException, which names the right
/// form, also if it holds a password: others can see what stands on a command line.
[[nodiscard]] ImapAccount parse_imap_url(const std::string& url);

/// The server cannot be reached, went away, or said something else than expected.
class ImapError : public Error {
 public:
  using Error::Error;
};

/// The server does not know the user or the password.
class ImapLoginRefused : public ImapError {
 public:
  using ImapError::ImapError;
};

/// One line of a server's answer, with the literals that came in it.
struct ImapLine {
  std::string text{};  ///< each literal is `{n}` in it
  std::vector<std::string> literals{};
};

/// One session with a server, logged in. Used by one thread. Everything throws ImapError, after
/// which only destruction is left; a stop ends waits with ImapError, too.
class ImapConnection {
 public:
  /// Connects and logs in.
  ImapConnection(const ImapAccount& account, const Stop& stop);
  ~ImapConnection();
  ImapConnection(const ImapConnection&) = delete;
  ImapConnection& operator=(const ImapConnection&) = delete;

  /// Sends a command and returns the untagged lines of the answer. Throws ImapError unless it is
  /// OK.
  std::vector<ImapLine> command(const std::string& text);

  /// IDLE until the server tells of something, or the time is over, or a stop is requested.
  void idle(std::chrono::milliseconds longest);

  /// Whether the server told of new mail since this was last asked.
  [[nodiscard]] bool take_news() noexcept;

 private:
  class Wire;

  ImapLine read_line(std::chrono::milliseconds timeout);
  /// An untagged line; notes news.
  void look_at(const ImapLine& line) noexcept;
  std::string next_tag();

  std::unique_ptr<Wire> wire_;
  const Stop& stop_;
  int tags_ = 0;
  bool news_ = false;
};

/// A string for a command: quoted. Throws ImapError for what cannot be.
[[nodiscard]] std::string imap_quoted(std::string_view text);

}  // namespace errand::invoices
