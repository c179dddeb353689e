#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/socket_base.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <poll.h>
#include <utility>

#include "http/loop.hpp"

namespace errand::http {

/// Notices that a client has left while it waits for something and nobody reads from it. Belongs to
/// the loop's thread.
class LeaveWatch {
 public:
  /// Calls `left` at most once, and not after destruction. `socket` must outlive it.
  template <class Socket>
  LeaveWatch(asio::io_context& loop, Socket& socket, std::function<void()> left)
      : watch_{std::make_shared<Watch>(loop, socket.native_handle(), std::move(left))},
        stop_waiting_{[&socket] {
          boost::system::error_code ignored;
          socket.cancel(ignored);
        }} {
    socket.async_wait(asio::socket_base::wait_read,
                      [watch = watch_](const boost::system::error_code& error) {
                        watch->waits = false;
                        if (!error) look(watch);
                      });
  }
  ~LeaveWatch() {
    watch_->is_over = true;
    watch_->next_look.cancel();
    if (watch_->waits) stop_waiting_();
  }
  LeaveWatch(const LeaveWatch&) = delete;
  LeaveWatch& operator=(const LeaveWatch&) = delete;

 private:
  static constexpr std::chrono::seconds kBetweenLooks{1};

  struct Watch {
    Watch(asio::io_context& loop, int descriptor, std::function<void()> when_left)
        : next_look{loop}, socket{descriptor}, left{std::move(when_left)} {}
    Timer next_look;
    int socket;
    std::function<void()> left;
    bool waits = true;  ///< for the socket
    bool is_over = false;
  };

  /// Bytes that nobody reads yet, of a next request or of TLS, hide the end from the event loop:
  /// then it is looked for again and again.
  static void look(const std::shared_ptr<Watch>& watch) {
    if (watch->is_over) return;
    pollfd asked{.fd = watch->socket, .events = POLLRDHUP, .revents = 0};
    if (::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      watch->left();
      return;
    }
    watch->next_look.expires_after(kBetweenLooks);
    watch->next_look.async_wait([watch](const boost::system::error_code& error) {
      if (!error) look(watch);
    });
  }

  std::shared_ptr<Watch> watch_;
  std::function<void()> stop_waiting_;
};

}  // namespace errand::http
