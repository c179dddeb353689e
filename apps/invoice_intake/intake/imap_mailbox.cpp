#include "invoice_intake/intake/imap_mailbox.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

#include "invoice_intake/intake/imap_text.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;

constexpr const char* kKeyword = "$ErrandStored";
/// Servers may end an IDLE after half an hour, and ways through firewalls are forgotten sooner.
constexpr auto kLongestIdle = 10min;
/// Where the server has no IDLE.
constexpr auto kPollInterval = 30'000ms;

using Uid = std::uint32_t;

std::vector<Uid> numbers_in(std::string_view text) {
  std::vector<Uid> numbers;
  for (std::size_t at = 0; at < text.size();) {
    Uid number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error == std::errc{}) numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data()) + 1;
  }
  return numbers;
}

bool has_word(const std::vector<ImapLine>& lines, std::string_view begin, std::string_view word) {
  return std::ranges::any_of(lines, [&](const ImapLine& line) {
    return line.text.find(begin) != std::string::npos && line.text.find(word) != std::string::npos;
  });
}

/// One session with one mailbox.
class Mailbox {
 public:
  Mailbox(const ImapAccount& account, const Stop& stop) : stop_{stop}, connection_{account, stop} {
    const std::vector<ImapLine> capabilities = connection_.command("CAPABILITY");
    has_idle_ = has_word(capabilities, "* CAPABILITY", " IDLE");
    const std::vector<ImapLine> selected =
        connection_.command("SELECT " + imap_quoted(imap_mailbox_name(account.mailbox)));
    keeps_keywords_ = has_word(selected, "[PERMANENTFLAGS", "\\*") ||
                      has_word(selected, "[PERMANENTFLAGS", kKeyword);
    static_cast<void>(connection_.take_news());  // of SELECT itself
  }

  /// Not taken in yet, the oldest first.
  std::vector<Uid> waiting() {
    std::vector<Uid> uids;
    for (const ImapLine& line : connection_.command(
             keeps_keywords_ ? std::string{"UID SEARCH UNDELETED UNKEYWORD "} + kKeyword
                             : "UID SEARCH UNDELETED UNSEEN")) {
      constexpr std::string_view kBegin = "* SEARCH";
      if (!line.text.starts_with(kBegin)) continue;
      const std::vector<Uid> found = numbers_in(std::string_view{line.text}.substr(kBegin.size()));
      uids.insert(uids.end(), found.begin(), found.end());
    }
    std::ranges::sort(uids);
    return uids;
  }

  /// nullopt if it is gone, or larger than kLargestMessage: then `too_large` says so.
  std::optional<std::string> fetch(Uid uid, bool& too_large) {
    too_large = false;
    const std::string number = std::to_string(uid);
    for (const ImapLine& line : connection_.command("UID FETCH " + number + " (RFC822.SIZE)")) {
      const std::size_t at = line.text.find("RFC822.SIZE ");
      if (at == std::string::npos) continue;
      const std::vector<Uid> size = numbers_in(std::string_view{line.text}.substr(at + 12));
      too_large = !size.empty() && std::int64_t{size.front()} > kLargestMessage;
    }
    if (too_large) return std::nullopt;
    // PEEK: reading it must not mark it.
    for (ImapLine& line : connection_.command("UID FETCH " + number + " (BODY.PEEK[])")) {
      if (std::optional<std::string> body = fetched_body(line)) return body;
    }
    return std::nullopt;
  }

  void mark(Uid uid) {
    connection_.command("UID STORE " + std::to_string(uid) + " +FLAGS.SILENT (" +
                        (keeps_keywords_ ? kKeyword : "\\Seen") + ")");
  }

  /// Until there may be something new, or a stop.
  void wait() {
    if (connection_.take_news()) return;
    if (has_idle_) {
      connection_.idle(kLongestIdle);
    } else {
      static_cast<void>(stop_.wait(-1, kPollInterval));
      if (!stop_.requested()) connection_.command("NOOP");
    }
    static_cast<void>(connection_.take_news());
  }

 private:
  const Stop& stop_;
  ImapConnection connection_;
  bool has_idle_ = false;
  bool keeps_keywords_ = false;
};

class ImapSession {
 public:
  ImapSession(const ImapAccount& account, Intake& intake, const std::optional<Profile>& user,
              const Stop& stop, const TellOutcome& tell)
      : mailbox_{account, stop},
        name_{account.name()},
        intake_{intake},
        user_{user},
        stop_{stop},
        tell_{tell} {}

  void take_waiting() {
    for (const Uid uid : mailbox_.waiting()) {
      if (stop_.requested()) return;
      if (!refused_.contains(uid)) take(uid);
    }
  }

  void wait() { mailbox_.wait(); }

 private:
  void take(Uid uid) {
    const std::string source = name_ + ";UID=" + std::to_string(uid);
    bool too_large = false;
    const std::optional<std::string> bytes = mailbox_.fetch(uid, too_large);
    std::vector<IntakeOutcome> outcomes;
    if (bytes) {
      outcomes = intake_.take_mail(*bytes, source, user_);
    } else if (too_large) {
      outcomes.push_back({.source = source, .reason = "the e-mail is larger than 64 MiB"});
    } else {
      return;  // somebody deleted it
    }
    bool stored = true;
    for (const IntakeOutcome& outcome : outcomes) {
      stored = stored && outcome.status != IntakeOutcome::Status::refused;
      tell_(outcome);
    }
    if (stored) {
      mailbox_.mark(uid);
    } else {
      refused_.insert(uid);
    }
  }

  Mailbox mailbox_;
  const std::string name_;
  Intake& intake_;
  const std::optional<Profile>& user_;
  const Stop& stop_;
  const TellOutcome& tell_;
  std::set<Uid> refused_;
};

}  // namespace

void take_imap(const ImapAccount& account, Intake& intake, const std::optional<Profile>& user,
               bool watch, const Stop& stop, const TellOutcome& tell, Logger& logger) {
  auto pause = 1'000ms;
  bool was_in = false;
  while (!stop.requested()) {
    try {
      ImapSession session{account, intake, user, stop, tell};
      if (watch) logger.info("watching " + account.name());
      was_in = true;
      pause = 1'000ms;
      while (true) {
        session.take_waiting();
        if (!watch || stop.requested()) return;
        session.wait();
      }
    } catch (const ImapLoginRefused& error) {
      // A server that is starting up may refuse for a moment whom it knew before.
      if (!watch || !was_in) throw;
      logger.warning(error.what());
    } catch (const ImapError& error) {
      if (stop.requested()) return;
      if (!watch) throw;
      logger.warning(std::string{error.what()} + "; trying again");
    } catch (const StorageException& error) {
      if (!watch || error.retry() == StorageException::Retry::useless) throw;
      logger.warning(std::string{error.what()} + "; trying again");
    } catch (const std::system_error& error) {
      // No room for originals, or a disk that fails: it may pass, and nothing is marked meanwhile.
      if (!watch) throw;
      logger.warning(std::string{error.what()} + "; trying again");
    }
    static_cast<void>(stop.wait(-1, pause));
    pause = std::min<std::chrono::milliseconds>(pause * 2, 60'000ms);
  }
}

}  // namespace errand::invoices
