#include "distributor_upgrade/upgrade/load_simulation.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
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

/// When each withdrawal was completed, and how long its check took from then on.
class Delays {
 public:
  void begin(std::int64_t withdrawal) {
    const std::lock_guard lock{mutex_};
    begun_.emplace(withdrawal, SteadyClock::now());
  }

  void end(std::int64_t withdrawal) {
    const std::lock_guard lock{mutex_};
    const auto found = begun_.find(withdrawal);
    if (found == begun_.end()) return;  // of an earlier run, or handled twice
    delays_.push_back(std::chrono::duration_cast<milliseconds>(SteadyClock::now() - found->second));
    begun_.erase(found);
    ended_.notify_all();
  }

  [[nodiscard]] std::int64_t handled() {
    const std::lock_guard lock{mutex_};
    return static_cast<std::int64_t>(delays_.size());
  }

  /// Until all that began have ended, or nothing ended for a minute: failed ones never do.
  void wait_for_all() {
    std::unique_lock lock{mutex_};
    while (!begun_.empty() &&
           ended_.wait_for(lock, std::chrono::minutes{1}) == std::cv_status::no_timeout) {
    }
  }

  void report(LoadReport& report) {
    const std::lock_guard lock{mutex_};
    if (delays_.empty()) return;
    std::ranges::sort(delays_);
    report.median_delay = delays_[delays_.size() / 2];
    report.delay_of_95_percent = delays_[delays_.size() * 95 / 100];
    report.longest_delay = delays_.back();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::unordered_map<std::int64_t, SteadyClock::time_point> begun_;
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
      std::string result = next();
      const auto ledger = read_check_message(envelope.body()).triggering_withdraw_ledger_id();
      if (ledger) delays.end(*ledger);
      return result;
    });
    MessageConsumerOptions consumer;
    consumer.worker.concurrency = options.concurrency;
    consumer.class_names = {{kCheckType, options.message_class}};
    consumer_ = std::make_unique<MessageConsumer>(
        std::vector<ConsumedTransport>{{.transport = &checks, .failure = &failures}}, handlers_,
        consumer, logger);
    thread_ = std::jthread{[this](const std::stop_token& stop) { report_ = consumer_->run(stop); }};
  }

  WorkerReport stop() {
    thread_.request_stop();
    thread_.join();
    return report_;
  }

 private:
  DistributorUpgradeService service_;
  DistributorUpgradeCheckHandler handler_;
  Handlers handlers_;
  std::unique_ptr<MessageConsumer> consumer_;
  WorkerReport report_;
  std::jthread thread_;
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

  constexpr milliseconds kTick{50};
  const auto begin = SteadyClock::now();
  auto next_look = begin + std::chrono::seconds{1};
  std::int64_t looks = 0;
  std::int64_t waiting_in_all = 0;
  for (auto at = begin; at < begin + options.duration && !stop.stop_requested(); at += kTick) {
    std::this_thread::sleep_until(at);
    const auto elapsed =
        std::min<SteadyClock::duration>(SteadyClock::now() - begin, options.duration);
    const auto due =
        options.rate * std::chrono::duration_cast<milliseconds>(elapsed).count() / 1000;
    if (due > report.sent) {
      database.write([&](Session& session) {
        for (std::int64_t i = report.sent; i < due; ++i) {
          const std::int64_t who = distributors[random() % distributors.size()];
          const std::int64_t withdrawal =
              create_withdrawal(session, who, 1000 + static_cast<std::int64_t>(random() % 50'000));
          delays.begin(withdrawal);
          complete_withdrawal(session, sender, withdrawal);
        }
      });
      report.sent = due;
    }
    if (SteadyClock::now() < next_look) continue;
    next_look += std::chrono::seconds{1};
    const TransportStats stats = checks.stats();
    const std::int64_t waiting = stats.ready + stats.delayed + stats.in_flight;
    report.most_waiting = std::max(report.most_waiting, waiting);
    waiting_in_all += waiting;
    report.mean_waiting = static_cast<double>(waiting_in_all) / static_cast<double>(++looks);
    report.handled = delays.handled();
    each_second(report, waiting);
  }
  const auto sent_at = SteadyClock::now();
  report.seconds = std::chrono::duration<double>(sent_at - begin).count();
  delays.wait_for_all();
  report.drain_seconds = std::chrono::duration<double>(SteadyClock::now() - sent_at).count();
  const WorkerReport worked = worker.stop();
  report.handled = worked.completed;
  report.failed = worked.failed;
  report.upgraded = count_upgrades(database) - upgrades_before;
  delays.report(report);
  return report;
}

}  // namespace errand::distributors
