#include "distributor_upgrade/upgrade/load_simulation.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "errand/message_consumer.hpp"

#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/upgrade/check_handler.hpp"
#include "distributor_upgrade/upgrade/complete_withdrawal.hpp"

namespace errand::distributors {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// When each withdrawal was completed, and how its check ended.
class Delays {
 public:
  void sent(std::int64_t withdrawal) {
    const std::lock_guard lock{mutex_};
    Check& check = checks_[withdrawal];
    check.sent = SteadyClock::now();
    ++open_;
    close(check);
  }

  /// `failure`: empty, or why it failed. Only the first end counts.
  void ended(std::int64_t withdrawal, const std::string& failure) {
    const std::lock_guard lock{mutex_};
    Check& check = checks_[withdrawal];
    if (check.ended) return;
    check.ended = SteadyClock::now();
    check.has_failed = !failure.empty();
    if (first_failure_.empty()) first_failure_ = failure;
    close(check);
  }

  [[nodiscard]] std::int64_t handled() {
    const std::lock_guard lock{mutex_};
    return static_cast<std::int64_t>(delays_.size());
  }

  /// Until all that were sent have ended, or none has for a minute.
  void wait_for_all() {
    std::unique_lock lock{mutex_};
    while (open_ > 0 &&
           closed_.wait_for(lock, std::chrono::minutes{1}) == std::cv_status::no_timeout) {
    }
  }

  void report(LoadReport& report) {
    const std::lock_guard lock{mutex_};
    report.handled = static_cast<std::int64_t>(delays_.size());
    report.failed = failed_;
    report.first_failure = first_failure_;
    if (delays_.empty()) return;
    std::ranges::sort(delays_);
    report.median_delay = delays_[delays_.size() / 2];
    report.delay_of_95_percent = delays_[delays_.size() * 95 / 100];
    report.longest_delay = delays_.back();
  }

 private:
  struct Check {
    std::optional<SteadyClock::time_point> sent{};
    std::optional<SteadyClock::time_point> ended{};
    bool has_failed = false;
  };

  /// A check may have ended before whoever committed it comes to say that it was sent.
  void close(const Check& check) {
    if (!check.sent || !check.ended) return;
    if (check.has_failed) {
      ++failed_;
    } else {
      const auto delay = std::max(*check.ended - *check.sent, SteadyClock::duration::zero());
      delays_.push_back(std::chrono::duration_cast<milliseconds>(delay));
    }
    --open_;
    closed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable closed_;
  std::unordered_map<std::int64_t, Check> checks_;
  std::int64_t open_ = 0;
  std::int64_t failed_ = 0;
  std::string first_failure_;
  std::vector<milliseconds> delays_;
};

std::vector<std::int64_t> some_distributors(Database& database) {
  std::vector<std::int64_t> ids;
  database.read([&](Session& session) {
    for (const Row& row : session.run("SELECT id FROM distributor ORDER BY id LIMIT 100000").rows) {
      ids.push_back(row[0].number());
    }
  });
  if (ids.empty()) {
    throw NotPossible{"there are no distributors; make some with errand-distributors seed"};
  }
  return ids;
}

std::int64_t count_upgrades(Database& database) {
  std::int64_t count = 0;
  database.read([&](Session& session) {
    count = session.run("SELECT count(*) FROM distributor_level_upgrade_history")
                .rows.at(0)
                .at(0)
                .number();
  });
  return count;
}

/// The worker's side: the real handler, made slower.
class SlowWorker {
 public:
  SlowWorker(Database& database, Transport& checks, Transport& failures, const LoadOptions& options,
             Logger& logger, Delays& delays)
      : service_{database}, handler_{service_} {
    handler_.add_to(handlers_);
    handlers_.use([&delays, time = options.handling](const Envelope& envelope, TaskContext&,
                                                     const Next& next) {
      std::this_thread::sleep_for(time);
      const auto ledger = read_check_message(envelope.body()).triggering_withdraw_ledger_id();
      try {
        std::string result = next();
        if (ledger) delays.ended(*ledger, "");
        return result;
      } catch (const std::exception& error) {
        if (ledger) delays.ended(*ledger, error.what());
        throw;
      }
    });
    MessageConsumerOptions consumer;
    consumer.worker.concurrency = options.concurrency;
    consumer.class_names = {{kCheckType, options.message_class}};
    consumer_ = std::make_unique<MessageConsumer>(
        std::vector<ConsumedTransport>{{.transport = &checks, .failure = &failures}}, handlers_,
        consumer, logger);
    thread_ = std::jthread{[this](const std::stop_token& stop) { consumer_->run(stop); }};
  }

  void stop() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  DistributorUpgradeService service_;
  DistributorUpgradeCheckHandler handler_;
  Handlers handlers_;
  std::unique_ptr<MessageConsumer> consumer_;
  std::jthread thread_;
};

/// How many wait, every second.
class Looks {
 public:
  Looks(Transport& checks, SteadyClock::time_point begin) : checks_{checks}, next_{begin} {
    next_ += std::chrono::seconds{1};
  }

  [[nodiscard]] bool is_due() const { return SteadyClock::now() >= next_; }

  std::int64_t look(LoadReport& report) {
    next_ += std::chrono::seconds{1};
    const TransportStats stats = checks_.stats();
    const std::int64_t waiting = stats.ready + stats.delayed + stats.in_flight;
    in_all_ += waiting;
    report.most_waiting = std::max(report.most_waiting, waiting);
    report.mean_waiting = static_cast<double>(in_all_) / static_cast<double>(++count_);
    return waiting;
  }

 private:
  Transport& checks_;
  SteadyClock::time_point next_;
  std::int64_t count_ = 0;
  std::int64_t in_all_ = 0;
};

}  // namespace

LoadReport simulate_load(
    Database& database, Transport& checks, Transport& failures, const LoadOptions& options,
    const std::stop_token& stop, Logger& logger,
    const std::function<void(const LoadReport&, std::int64_t waiting)>& each_second) {
  const std::vector<std::int64_t> distributors = some_distributors(database);
  const std::int64_t upgrades_before = count_upgrades(database);
  const CheckSender sender{checks, options.message_class};
  std::mt19937_64 random{1};  // NOLINT: the same every time, on purpose
  Delays delays;
  LoadReport report;
  SlowWorker worker{database, checks, failures, options, logger, delays};

  const auto begin = SteadyClock::now();
  constexpr std::chrono::seconds kGrace{5};
  constexpr std::int64_t kMostTogether = 1000;
  const std::int64_t wanted = options.rate * options.duration.count() / 1000;
  Looks looks{checks, begin};
  std::mutex mutex;
  std::condition_variable_any never;
  while (report.sent < wanted && !stop.stop_requested() &&
         SteadyClock::now() < begin + options.duration + kGrace) {
    const auto due =
        begin + std::chrono::nanoseconds{std::chrono::seconds{1}} * report.sent / options.rate;
    std::unique_lock lock{mutex};
    never.wait_until(lock, stop, due, [] { return false; });
    const std::chrono::duration<double> elapsed = SteadyClock::now() - begin;
    const auto are_due =
        static_cast<std::int64_t>(elapsed.count() * static_cast<double>(options.rate)) + 1;
    std::vector<std::int64_t> completed;
    database.write([&](Session& session) {
      const std::int64_t end = std::min({are_due, wanted, report.sent + kMostTogether});
      for (std::int64_t i = report.sent; i < end; ++i) {
        const std::int64_t who = distributors[random() % distributors.size()];
        completed.push_back(
            create_withdrawal(session, who, 1000 + static_cast<std::int64_t>(random() % 50'000)));
        complete_withdrawal(session, sender, completed.back());
      }
    });
    for (const std::int64_t withdrawal : completed) delays.sent(withdrawal);
    report.sent += static_cast<std::int64_t>(completed.size());
    if (!looks.is_due()) continue;
    const std::int64_t waiting = looks.look(report);
    report.handled = delays.handled();
    each_second(report, waiting);
  }
  const auto sent_at = SteadyClock::now();
  report.seconds = std::chrono::duration<double>(sent_at - begin).count();
  delays.wait_for_all();
  report.drain_seconds = std::chrono::duration<double>(SteadyClock::now() - sent_at).count();
  worker.stop();
  report.upgraded = count_upgrades(database) - upgrades_before;
  delays.report(report);
  return report;
}

}  // namespace errand::distributors
