#include "terminal/full_screen.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace errand::terminal {
namespace {

constexpr char kCtrlC = 3;
constexpr std::array kWatched{SIGINT, SIGTERM, SIGHUP, SIGWINCH};

/// Signal handlers can only write into it; wait() reads, whichever thread took the signal.
std::array<int, 2> signal_pipe{-1, -1};

void on_signal(int signal) {
  const int saved = errno;
  const char event = signal == SIGWINCH ? 'w' : 'q';
  static_cast<void>(!write(signal_pipe[1], &event, 1));
  errno = saved;
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : kWatched) sigaction(signal, &action, nullptr);
}

std::size_t rows() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

}  // namespace

FullScreen::FullScreen(std::ostream& out) : out_{out} {
  if (pipe2(signal_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error{errno, std::generic_category(), "cannot watch for signals"};
  }
  handle_signals(on_signal);
  if (tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    reads_keys_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  // Another page of the terminal, without cursor, long lines cut instead of wrapped.
  out_ << "\x1b[?1049h\x1b[?25l\x1b[?7l" << std::flush;
}

FullScreen::~FullScreen() {
  try {
    out_ << "\x1b[?7h\x1b[?25h\x1b[?1049l" << std::flush;
  } catch (const std::exception&) {
    // The terminal is gone, and with it what should be restored.
  }
  if (reads_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  handle_signals(SIG_DFL);
  for (int& end : signal_pipe) close(std::exchange(end, -1));
}

void FullScreen::draw(std::string_view picture) {
  std::string text = "\x1b[H";
  for (std::size_t left = rows(); left > 0 && !picture.empty(); --left) {
    const std::size_t end = std::min(picture.find('\n'), picture.size());
    text.append(picture.substr(0, end)).append("\x1b[K");
    // A line feed in the last row would scroll the first one away.
    if (left > 1) text += "\r\n";
    picture.remove_prefix(std::min(end + 1, picture.size()));
  }
  out_ << text << "\x1b[J" << std::flush;
}

FullScreen::Event FullScreen::wait(std::chrono::milliseconds timeout) {
  std::array<pollfd, 2> sources{pollfd{signal_pipe[0], POLLIN, 0},
                                pollfd{reads_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
  const auto longest = std::chrono::milliseconds{std::numeric_limits<int>::max()};
  if (poll(sources.data(), sources.size(), static_cast<int>(std::min(timeout, longest).count())) <=
      0) {
    return Event::none;
  }
  char event = 0;
  if (read(signal_pipe[0], &event, 1) == 1) return event == 'w' ? Event::resized : Event::quit;
  if ((sources[1].revents & (POLLHUP | POLLERR)) != 0) return Event::quit;
  char key = 0;
  if ((sources[1].revents & POLLIN) == 0) return Event::none;
  if (read(STDIN_FILENO, &key, 1) != 1) return Event::quit;
  return key == 'q' || key == 'Q' || key == kCtrlC ? Event::quit : Event::none;
}

}  // namespace errand::terminal
