#include "engine/redis/connection_pool.hpp"

#include <utility>

namespace errand::redis {

ConnectionPool::Loan::Loan(ConnectionPool& pool) : pool_{pool} {
  {
    std::unique_lock lock{pool_.mutex_};
    pool_.returned_.wait(lock, [&] { return pool_.lent_ < pool_.most_; });
    ++pool_.lent_;
    while (!connection_ && !pool_.idle_.empty()) {
      connection_ = std::move(pool_.idle_.back());
      pool_.idle_.pop_back();
      // The server may have been restarted since: all its connections are closed then.
      if (!connection_->is_alive()) connection_.reset();
    }
  }
  if (connection_) return;
  try {
    connection_ = std::make_unique<Connection>(pool_.settings_);
  } catch (...) {
    {
      const std::lock_guard lock{pool_.mutex_};
      --pool_.lent_;
    }
    pool_.returned_.notify_one();
    throw;
  }
}

ConnectionPool::Loan::~Loan() {
  {
    const std::lock_guard lock{pool_.mutex_};
    --pool_.lent_;
    if (connection_->is_usable()) pool_.idle_.push_back(std::move(connection_));
  }
  pool_.returned_.notify_one();
}

}  // namespace errand::redis
