#include "bench/engine_bench.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <thread>

#include "errand/application.hpp"

#include "bench/bare_loop.hpp"
#include "bench/idle_worker.hpp"
#include "bench/stopwatch.hpp"

namespace errand::bench {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr std::size_t kCallers = 50;
constexpr std::size_t kBulk = 1000;
constexpr std::size_t kMostRoundTrips = 500;
constexpr std::size_t kStorageCalls = 500;
constexpr std::size_t kClaims = 51;
constexpr std::size_t kClaimed = 100;
constexpr const char* kType = "errand.echo";

std::string payload(std::size_t bytes) {
  std::string text = R"({"to":"somebody@example.com","subject":"Your order","body":")";
  text.append(std::max(bytes, kLeastPayload) - text.size() - 2, 'x');
  return text + "\"}";
}

class Bench {
 public:
  Bench(const Dsn& dsn, const Plan& plan, const std::function<void(const std::string&)>& progress)
      : dsn_{dsn},
        plan_{plan},
        progress_{progress},
        app_{dsn},
        // As long as names of queues are; the end of an id is random.
        name_{"bench-" + TaskId::generate().to_string().substr(28)} {
    app_.handlers().add_raw(kType, [this](const Envelope& envelope, TaskContext&) {
      first_handled_.note();
      return envelope.body();
    });
  }

  std::vector<Figure> run() {
    try {
      measure_all();
    } catch (...) {
      clean_up();
      throw;
    }
    clean_up();
    return figures_;
  }

 private:
  void measure_all() {
    submit_one_by_one();
    submit_together();
    bulk_and_drain();
    round_trips();
    if (plan_.storage_calls) storage_calls();
    if (plan_.backlog > 0) backlog();
    progress_("cleaning up");  // here: it may throw, and then that is done, too
  }

  void add(const std::string& name, double value) { figures_.emplace_back(name, value); }

  SubmitOptions options(const std::string& part) const {
    SubmitOptions options;
    options.queue = name_ + part;
    return options;
  }

  void submit_one_by_one() {
    progress_("submit_seq");
    const std::size_t count = std::max<std::size_t>(plan_.tasks / 10, 100);
    const Stopwatch watch;
    for (std::size_t i = 0; i < count; ++i) app_.tasks().submit_json(kType, payload_, options(""));
    add("submit_seq", watch.rate(count));
    progress_("limit_submit_seq");
    const auto loop = make_bare_loop(dsn_, name_ + "-bare");
    const Stopwatch bare_watch;
    loop->submit(count, 1, payload_);
    add("limit_submit_seq", bare_watch.rate(count));
  }

  void submit_together() {
    progress_("submit_c50");
    const std::size_t each = std::max<std::size_t>(plan_.tasks / kCallers, 10);
    const Stopwatch watch;
    {
      std::vector<std::jthread> callers;
      for (std::size_t i = 0; i < kCallers; ++i) {
        callers.emplace_back([&] {
          const SubmitOptions where = options("");
          for (std::size_t n = 0; n < each; ++n) app_.tasks().submit_json(kType, payload_, where);
        });
      }
    }
    add("submit_c50", watch.rate(each * kCallers));
  }

  double submit_bulk() {
    const Stopwatch watch;
    for (std::size_t done = 0; done < plan_.tasks; done += kBulk) {
      std::vector<NewTask> batch;
      for (std::size_t i = 0; i < std::min(kBulk, plan_.tasks - done); ++i) {
        batch.push_back(NewTask{.envelope = Envelope{kType, payload_}, .queue = name_});
      }
      app_.tasks().submit_batch(batch);
    }
    return watch.rate(plan_.tasks);
  }

  /// From the first task that is handled to the end of the last one, which is not that of the
  /// worker: it asks once more whether there is another task, and signs off.
  double drain() {
    WorkerOptions options;
    options.queues = {name_};
    options.drain = true;
    Worker worker{app_.engine(), app_.handlers(), options};
    first_handled_.forget();
    std::atomic<double> took = 0;
    const Subscription completions = app_.engine().signals().subscribe(
        Signal::completion, [&](const SignalEvent&) { took = first_handled_.watch().seconds(); });
    const WorkerReport report = worker.run({});
    return static_cast<double>(report.completed) / took;
  }

  double bare_drain(BareLoop& loop) {
    FirstTime first_claimed;
    const std::size_t done = loop.drain(kBulk, first_claimed);
    return first_claimed.watch().rate(done);
  }

  template <class Own, class Limit>
  static void in_turn(bool limit_first, Own&& own, Limit&& limit) {
    if (limit_first) limit();
    own();
    if (!limit_first) limit();
  }

  void bulk_and_drain() {
    const auto loop = make_bare_loop(dsn_, name_ + "-bare");
    static_cast<void>(drain());  // what the figures before have left
    static_cast<void>(bare_drain(*loop));
    std::vector<double> bulk;
    std::vector<double> drained;
    std::vector<double> bare_bulk;
    std::vector<double> bare_drained;
    for (std::size_t round = 1; round <= plan_.rounds; ++round) {
      const std::string which = " (round " + std::to_string(round) + ")";
      const auto own_bulk = [&] {
        progress_("submit_bulk" + which);
        bulk.push_back(submit_bulk());
      };
      const auto limit_of_bulk = [&] {
        progress_("limit_submit_bulk" + which);
        const Stopwatch watch;
        loop->submit(plan_.tasks, kBulk, payload_);
        bare_bulk.push_back(watch.rate(plan_.tasks));
      };
      const auto own_drain = [&] {
        progress_("drain" + which);
        drained.push_back(drain());
      };
      const auto limit_of_drain = [&] {
        progress_("limit_drain" + which);
        bare_drained.push_back(bare_drain(*loop));
      };
      // Whoever is first meets what the storage has still to do for what came before.
      const bool bare_first = plan_.bare_first == (round % 2 == 1);
      in_turn(bare_first, own_bulk, limit_of_bulk);
      in_turn(bare_first, own_drain, limit_of_drain);
    }
    add("submit_bulk", median(bulk));
    add("limit_submit_bulk", median(bare_bulk));
    add("drain", median(drained));
    add("limit_drain", median(bare_drained));
  }

  void round_trips() {
    progress_("e2e");
    const IdleWorker worker{dsn_, name_ + "-e2e"};
    const SubmitOptions where = options("-e2e");
    // The first ones wait for the process to start.
    for (int i = 0; i < 20; ++i) {
      static_cast<void>(app_.tasks().submit_json(kType, payload_, where).get_json(seconds{30}));
    }
    Samples samples;
    std::vector<TaskId> ids;
    const std::size_t trips = std::clamp<std::size_t>(plan_.tasks / 20, 10, kMostRoundTrips);
    for (std::size_t i = 0; i < trips; ++i) {
      if (i % 50 == 0) progress_("e2e");
      const Stopwatch watch;
      const TaskHandle task = app_.tasks().submit_json(kType, payload_, where);
      static_cast<void>(task.get_json(seconds{30}));
      samples.add(watch);
      ids.push_back(task.id());
    }
    Samples starts;
    for (const TaskId& id : ids) {
      const TaskData data = app_.engine().catalog().find(id).value().data;
      starts.add(data.started_at.value() - data.submitted_at);
    }
    add("start_p50_ms", starts.percentile_ms(50));
    add("e2e_p50_ms", samples.percentile_ms(50));
    add("e2e_p99_ms", samples.percentile_ms(99));
  }

  void storage_calls() {
    progress_("storage calls");
    TaskStorage& storage = app_.engine().storage();
    const Clock& clock = system_clock();
    std::vector<TaskData> tasks;
    for (std::size_t i = 0; i < kStorageCalls; ++i) {
      tasks.push_back(TaskData::pending(TaskId::generate(), payload_, clock.now()));
    }
    const auto time_each = [&](const char* name, const std::function<void(const TaskData&)>& call) {
      Samples samples;
      for (const TaskData& task : tasks) {
        const Stopwatch watch;
        call(task);
        samples.add(watch);
      }
      add(name, samples.percentile_ms(99));
    };
    time_each("save_p99_ms", [&](const TaskData& task) { storage.save(task); });
    time_each("load_p99_ms",
              [&](const TaskData& task) { static_cast<void>(storage.load(task.id)); });
    time_each("update_status_p99_ms",
              [&](const TaskData& task) { storage.update_status(task.id, TaskStatus::running); });
    time_each("remove_p99_ms", [&](const TaskData& task) { storage.remove(task.id); });

    // Long expired, and older than anything a user's storage may hold.
    const Timestamp long_ago = parse_iso8601("1971-01-01T00:00:00Z").value();
    for (std::size_t i = 0; i < TaskStorage::kExpiryBatch; ++i) {
      TaskData task = TaskData::pending(TaskId::generate(), payload_, long_ago);
      task.cancel(long_ago);
      storage.save(task);
    }
    const Stopwatch watch;
    storage.delete_expired_tasks(long_ago + seconds{1});
    add("delete_expired_1000_ms", watch.seconds() * 1000);
  }

  void backlog() {
    add("claim_1000_ms", claim_ms(name_ + "-few", kBulk));
    add("claim_backlog_ms", claim_ms(name_ + "-many", plan_.backlog));
  }

  /// Of a claim out of so many tasks; the number stays the same all the time.
  double claim_ms(const std::string& queue, std::size_t pending) {
    TaskQueue& tasks = app_.engine().queue();
    std::vector<TaskId> ids;
    const auto submit = [&](std::size_t count) {
      std::vector<NewTask> batch(count, NewTask{.envelope = Envelope{kType, payload_}});
      for (NewTask& task : batch) {
        task.id = TaskId::generate();
        task.queue = queue;
        ids.push_back(task.id);
      }
      tasks.submit(batch);
    };
    while (ids.size() < pending) {
      progress_(fmt::format("a claim out of {}: submitted {}", pending, ids.size()));
      submit(std::min(kBulk, pending - ids.size()));
    }
    Samples samples;
    for (std::size_t i = 0; i < kClaims; ++i) {
      const Stopwatch watch;
      const ClaimBatch batch =
          tasks.claim({.queues = {queue}, .limit = kClaimed, .worker = name_, .lease = hours{1}});
      samples.add(watch);
      std::vector<Settlement> settlements;
      for (const Claim& claim : batch.claims) settlements.push_back({claim.lease, Completed{"1"}});
      tasks.settle(settlements);
      submit(batch.claims.size());
    }
    for (std::size_t done = 0; done < ids.size() && !plan_.keep_backlog; done += kBulk) {
      progress_(fmt::format("a claim out of {}: removed {}", pending, done));
      const auto some = std::span{ids}.subspan(done, std::min(kBulk, ids.size() - done));
      tasks.cancel(some);
      tasks.discard(some);
    }
    return samples.percentile_ms(50);
  }

  void clean_up() {
    std::vector<std::string> parts{"", "-bare", "-e2e"};
    if (!plan_.keep_backlog) parts.insert(parts.end(), {"-few", "-many"});
    for (const std::string& part : parts) {
      const TaskFilter filter{.statuses = {}, .type = {}, .queue = name_ + part};
      while (true) {
        const TaskPage page = app_.engine().catalog().list(
            filter, PageRequest{.page = 1, .page_size = 1000, .documents = false, .count = false});
        std::vector<TaskId> ids;
        for (const TaskRecord& task : page.items) ids.push_back(task.data.id);
        app_.engine().queue().cancel(ids);
        if (app_.engine().queue().discard(ids) == 0) break;
      }
    }
    // On Redis whoever counts forgets the queues that are empty.
    static_cast<void>(app_.engine().catalog().stats());
  }

  const Dsn& dsn_;
  const Plan plan_;
  const std::function<void(const std::string&)>& progress_;
  Application app_;
  const std::string name_;
  const std::string payload_ = payload(plan_.payload);
  std::vector<Figure> figures_;
  FirstTime first_handled_;
};

}  // namespace

std::vector<Figure> measure(const Dsn& dsn, const Plan& plan,
                            const std::function<void(const std::string&)>& progress) {
  return Bench{dsn, plan, progress}.run();
}

}  // namespace errand::bench
