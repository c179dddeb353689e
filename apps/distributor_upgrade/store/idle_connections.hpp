#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace errand::distributors {

/// Connections between two uses: as many as were ever used at once. Thread-safe.
template <class Connection>
class IdleConnections {
 public:
  /// Null if there is none.
  std::unique_ptr<Connection> take() {
    const std::lock_guard lock{mutex_};
    if (connections_.empty()) return nullptr;
    std::unique_ptr<Connection> connection = std::move(connections_.back());
    connections_.pop_back();
    return connection;
  }

  void give_back(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock{mutex_};
    connections_.push_back(std::move(connection));
  }

  void clear() {
    std::vector<std::unique_ptr<Connection>> closed;
    const std::lock_guard lock{mutex_};
    closed.swap(connections_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace errand::distributors
