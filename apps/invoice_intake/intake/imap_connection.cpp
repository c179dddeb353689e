#include "invoice_intake/intake/imap_connection.hpp"

#include <charconv>
#include <curl/curl.h>
#include <mutex>
#include <optional>
#include <utility>

#include "invoice_intake/intake/imap_text.hpp"

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;

constexpr auto kReplyTime = 60'000ms;
/// A SEARCH over a large mailbox answers in one line.
constexpr std::size_t kLongestLine = std::size_t{16} << 20;
/// The largest e-mail, and what the server may add.
constexpr std::size_t kLargestLiteral = std::size_t{65} << 20;

void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

/// The size that a line ends with, `{n}`, if it does.
std::optional<std::size_t> literal_size(std::string_view line) {
  if (!line.ends_with('}')) return std::nullopt;
  const std::size_t open = line.rfind('{');
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(open + 1, line.size() - open - 2);
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return size;
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]";
}

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string value{text};
  curl_free(text);
  return value;
}

}  // namespace

std::string ImapAccount::name() const {
  return (tls ? "imaps://" : "imap://") + user + "@" + host + ":" + std::to_string(port) + "/" +
         mailbox;
}

ImapAccount parse_imap_url(const std::string& url) {
  constexpr const char* kForm = "; write imaps://USER@HOST[:PORT][/MAILBOX]";
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed{curl_url(), &curl_url_cleanup};
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) !=
      CURLUE_OK) {
    throw ConfigurationException{std::string{"--imap: this is not a URL"} + kForm};
  }
  const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "imap" && scheme != "imaps") {
    throw ConfigurationException{"--imap: the scheme is `" + scheme + "`" + kForm};
  }
  if (!part_of(parsed.get(), CURLUPART_PASSWORD).empty()) {
    throw ConfigurationException{
        "--imap: a password on the command line can be seen by everybody on this machine; give it "
        "in $ERRAND_INVOICES_IMAP_PASSWORD or by --imap-password-file"};
  }
  ImapAccount account;
  account.tls = scheme == "imaps";
  account.host = part_of(parsed.get(), CURLUPART_HOST);
  account.user = part_of(parsed.get(), CURLUPART_USER, CURLU_URLDECODE);
  if (account.host.empty() || account.user.empty()) {
    throw ConfigurationException{std::string{"--imap: it names no user or no host"} + kForm};
  }
  const std::string port = part_of(parsed.get(), CURLUPART_PORT);
  account.port = port.empty() ? (account.tls ? 993 : 143) : std::stoi(port);
  std::string path = part_of(parsed.get(), CURLUPART_PATH, CURLU_URLDECODE);
  if (path.starts_with('/')) path.erase(0, 1);
  if (!path.empty()) account.mailbox = path;
  static_cast<void>(imap_quoted(imap_mailbox_name(account.mailbox)));
  return account;
}

std::string imap_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\r' || c == '\n' || c == '\0') throw ImapError{"a name has a line break in it"};
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// Bytes to and from the server. libcurl makes the connection, TLS and login; then it only carries.
class ImapConnection::Wire {
 public:
  explicit Wire(const ImapAccount& account) : curl_{curl_easy_init(), &curl_easy_cleanup} {
    CURL* curl = curl_.get();
    if (curl == nullptr) throw ImapError{"libcurl cannot start"};
    const std::string url = (account.tls ? "imaps://" : "imap://") + account.host + ":" +
                            std::to_string(account.port) + "/";
    char reason[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_USERNAME, account.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, account.password.c_str());
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_USE_SSL,
                     is_this_machine(account.host) ? CURLUSESSL_TRY : CURLUSESSL_ALL);
    if (!account.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, account.ca_file.c_str());
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
    if (code == CURLE_LOGIN_DENIED) {
      throw ImapLoginRefused{account.name() + ": the server refuses this user or password"};
    }
    if (code != CURLE_OK) {
      throw ImapError{account.name() + ": " +
                      (reason[0] != '\0' ? reason : curl_easy_strerror(code))};
    }
    curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket_);
  }

  [[nodiscard]] int socket() const noexcept { return socket_; }

  void send(std::string_view bytes, const Stop& stop) {
    while (!bytes.empty()) {
      std::size_t sent = 0;
      const CURLcode code = curl_easy_send(curl_.get(), bytes.data(), bytes.size(), &sent);
      if (code == CURLE_AGAIN) {
        // Rare: a command is small. Until there is room again.
        static_cast<void>(stop.wait(-1, 10ms));
        if (stop.requested()) throw ImapError{"stopped"};
        continue;
      }
      if (code != CURLE_OK) throw ImapError{"the server has closed the connection"};
      bytes.remove_prefix(sent);
    }
  }

  /// At least one byte more into the buffer; false if none came in time.
  bool receive(const Stop& stop, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    char chunk[std::size_t{16} * 1024];
    while (true) {
      std::size_t size = 0;
      const CURLcode code = curl_easy_recv(curl_.get(), chunk, sizeof chunk, &size);
      if (code == CURLE_OK && size > 0) {
        buffer_.append(chunk, size);
        return true;
      }
      if (code != CURLE_AGAIN) throw ImapError{"the server has closed the connection"};
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left <= 0ms || stop.requested()) return false;
      static_cast<void>(stop.wait(socket_, left));
    }
  }

  /// Up to the line's end, without it; nullopt if there is no whole line yet.
  std::optional<std::string> take_line() {
    const std::size_t end = buffer_.find("\r\n", read_);
    if (end == std::string::npos) {
      if (buffer_.size() - read_ > kLongestLine) throw ImapError{"the server's line has no end"};
      return std::nullopt;
    }
    std::string line = buffer_.substr(read_, end - read_);
    skip(end + 2 - read_);
    return line;
  }

  std::optional<std::string> take_bytes(std::size_t size) {
    if (buffer_.size() - read_ < size) return std::nullopt;
    std::string bytes = buffer_.substr(read_, size);
    skip(size);
    return bytes;
  }

 private:
  void skip(std::size_t size) {
    read_ += size;
    if (read_ == buffer_.size()) {
      buffer_.clear();
      read_ = 0;
    }
  }

  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  std::string buffer_;
  std::size_t read_ = 0;
};

ImapConnection::ImapConnection(const ImapAccount& account, const Stop& stop) : stop_{stop} {
  initialise_once();
  wire_ = std::make_unique<Wire>(account);
}

ImapConnection::~ImapConnection() = default;

std::string ImapConnection::next_tag() { return "E" + std::to_string(++tags_); }

ImapLine ImapConnection::read_line(std::chrono::milliseconds timeout) {
  const auto more = [&] {
    if (!wire_->receive(stop_, timeout)) {
      throw ImapError{stop_.requested() ? "stopped" : "the server does not answer"};
    }
  };
  ImapLine line;
  while (true) {
    std::optional<std::string> part;
    while (!(part = wire_->take_line())) more();
    line.text += *part;
    const std::optional<std::size_t> size = literal_size(*part);
    if (!size) return line;
    if (*size > kLargestLiteral) throw ImapError{"the server sends an e-mail that is too large"};
    std::optional<std::string> literal;
    while (!(literal = wire_->take_bytes(*size))) more();
    line.literals.push_back(std::move(*literal));
  }
}

void ImapConnection::look_at(const ImapLine& line) noexcept {
  if (line.text.ends_with(" EXISTS")) news_ = true;
}

bool ImapConnection::take_news() noexcept { return std::exchange(news_, false); }

std::vector<ImapLine> ImapConnection::command(const std::string& text) {
  const std::string tag = next_tag() + " ";
  wire_->send(tag + text + "\r\n", stop_);
  std::vector<ImapLine> lines;
  while (true) {
    ImapLine line = read_line(kReplyTime);
    if (line.text.starts_with(tag)) {
      if (line.text.compare(tag.size(), 3, "OK ") == 0) return lines;
      throw ImapError{"the server refuses " + text.substr(0, text.find(' ')) + ": " +
                      line.text.substr(tag.size())};
    }
    if (line.text.starts_with("* BYE")) throw ImapError{"the server says goodbye"};
    look_at(line);
    lines.push_back(std::move(line));
  }
}

void ImapConnection::idle(std::chrono::milliseconds longest) {
  const std::string tag = next_tag() + " ";
  wire_->send(tag + "IDLE\r\n", stop_);
  const auto deadline = std::chrono::steady_clock::now() + longest;
  bool idling = false;
  while (!news_ && !stop_.requested()) {
    if (std::optional<std::string> text = wire_->take_line()) {
      if (text->starts_with("+")) idling = true;
      if (text->starts_with("* BYE")) throw ImapError{"the server says goodbye"};
      if (text->starts_with(tag)) throw ImapError{"the server refuses IDLE: " + *text};
      look_at({.text = std::move(*text)});
      continue;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (!wire_->receive(stop_, left) && idling) break;
    if (left <= 0ms && !idling) throw ImapError{"the server does not answer"};
  }
  if (stop_.requested()) return;
  wire_->send("DONE\r\n", stop_);
  while (true) {
    const ImapLine line = read_line(kReplyTime);
    if (line.text.starts_with(tag)) return;
    look_at(line);
  }
}

}  // namespace errand::invoices
