/// ledger_program submit COUNT MS LEDGER | ledger_program work LEDGER [WORKER OPTION…]
///
/// A client and a worker that write down, outside the storage, what the storage has acknowledged:
///
///     submitted ID          a task that takes MS milliseconds
///     settled ID TOKEN      the outcome of this attempt counts; TOKEN is its result
///
/// whatever happens to the storage meanwhile. Appended line by line, each by one write().

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "errand/application.hpp"
#include "errand/errors.hpp"

#include "support/forwarding_engine.hpp"

namespace errand::testing {
namespace {

constexpr const char* kType = "ledger.note";

class Ledger {
 public:
  explicit Ledger(const char* path)
      : file_{open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)} {
    if (file_ < 0) throw std::system_error{errno, std::generic_category(), path};
  }

  void write(const std::string& lines) const {
    if (::write(file_, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) {
      throw std::system_error{errno, std::generic_category(), "cannot write the ledger"};
    }
  }

 private:
  int file_;
};

class LedgerQueue final : public ForwardingQueue {
 public:
  LedgerQueue(TaskQueue& next, const Ledger& ledger) : ForwardingQueue{&next}, ledger_{ledger} {}

  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override {
    std::vector<SettleStatus> statuses = ForwardingQueue::settle(settlements);
    std::string lines;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      const auto* completed = std::get_if<Completed>(&settlements[i].outcome);
      if (completed == nullptr || statuses[i] != SettleStatus::settled) continue;
      lines += "settled " + settlements[i].lease.id.to_string() + " " + completed->result + "\n";
    }
    ledger_.write(lines);
    return statuses;
  }

 private:
  const Ledger& ledger_;
};

class LedgerEngine final : public ForwardingEngine {
 public:
  LedgerEngine(std::unique_ptr<Engine> next, const Ledger& ledger)
      : ForwardingEngine{std::move(next)}, queue_{real().queue(), ledger} {}

  TaskQueue& queue() noexcept override { return queue_; }

 private:
  LedgerQueue queue_;
};

/// Submits until the storage has acknowledged each task, under the same id.
int submit(std::size_t count, const std::string& ms, const char* path) {
  const Ledger ledger{path};
  std::unique_ptr<Engine> engine;
  while (!engine) {
    try {
      engine = open_engine(Dsn::from_environment());
    } catch (const StorageException&) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
  }
  constexpr std::size_t kBatch = 100;
  for (std::size_t done = 0; done < count; done += kBatch) {
    std::vector<NewTask> batch;
    std::string lines;
    for (std::size_t i = 0; i < std::min(kBatch, count - done); ++i) {
      batch.push_back(NewTask{.envelope = Envelope{kType, ms}});
      lines += "submitted " + batch.back().id.to_string() + "\n";
    }
    while (true) {
      try {
        engine->queue().submit(batch);
        break;
      } catch (const StorageException&) {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
      }
    }
    ledger.write(lines);
  }
  return 0;
}

int work(const char* path, int argc, const char* const* argv) {
  const Ledger ledger{path};
  Application app{std::make_unique<LedgerEngine>(open_engine(Dsn::from_environment()), ledger)};
  std::atomic<std::int64_t> attempts = 0;
  app.handlers().add_raw(kType, [&](const Envelope& envelope, TaskContext&) {
    std::this_thread::sleep_for(std::chrono::milliseconds{std::stoi(envelope.body())});
    return std::to_string(getpid()) + std::to_string(1'000'000 + ++attempts);
  });
  return run_worker(app, argc, argv);
}

}  // namespace
}  // namespace errand::testing

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "submit" && argc == 5) {
    return errand::testing::submit(std::stoul(argv[2]), argv[3], argv[4]);
  }
  if (role == "work" && argc >= 3) {
    return errand::testing::work(argv[2], argc - 2, argv + 2);
  }
  std::cerr << "ledger_program submit COUNT MS LEDGER | work LEDGER [OPTION…]\n";
  return 2;
}
