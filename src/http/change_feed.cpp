#include "http/change_feed.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <utility>

#include "errand/errors.hpp"

#include "core/block_signals.hpp"

namespace errand::http {
namespace {

using namespace std::chrono_literals;

constexpr auto kRegularly = 1s;       ///< while somebody listens
constexpr auto kSeldom = 5s;          ///< otherwise; the fine step of the history
constexpr auto kShortestGap = 250ms;  ///< between looks because of signals
constexpr auto kAtLeast = 15s;        ///< a sample goes out although nothing changed
/// For each part of time spent looking at tasks, and for each spent counting: with a million tasks
/// counting takes a hundred times as long, and those who watch tasks need not wait for it.
constexpr int kIdleParts = 19;

constexpr std::int64_t kNewest = 200;
constexpr std::size_t kMostNamed = 50;
constexpr std::size_t kMostWatched = 1000;  ///< in one look; then it is the next ones' turn
constexpr std::size_t kMostItems = 200;

std::size_t hash_of(const std::optional<Progress>& progress) {
  if (!progress) return 0;
  return std::hash<std::string>{}(
      fmt::format("{}/{} {}", progress->done, progress->total, progress->note));
}

std::string event(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

/// What a sample says but for what passes by itself: its time, and when workers were seen.
std::string essence_of(const Sample& sample) {
  std::string text;
  for (const std::int64_t count : sample.stats.tasks) text += fmt::format("{} ", count);
  for (const QueueStats& queue : sample.stats.queues) {
    text += fmt::format("{} {} {} {} {};", queue.queue, queue.paused, queue.due, queue.delayed,
                        queue.running);
  }
  for (const WorkerInfo& worker : sample.workers) {
    text +=
        fmt::format("{} {} {} {};", worker.worker, worker.running, worker.handled, worker.failed);
  }
  const Rates rates = sample.rates.value_or(Rates{});
  return text + fmt::format("{} {} {} {}", rates.submitted, rates.completed, rates.failed,
                            rates.cancelled);
}

}  // namespace

ChangeFeed::Fingerprint ChangeFeed::Fingerprint::of(const TaskRecord& task) {
  return {.version = task.data.version.value_or(0),
          .progress = hash_of(task.progress),
          .cancel_requested = task.cancel_requested};
}

ChangeFeed::ChangeFeed(Engine& engine, History& history, Logger& logger, Publish publish)
    : engine_{engine}, history_{history}, logger_{logger}, publish_{std::move(publish)} {
  for (const Signal signal : {Signal::work, Signal::completion, Signal::cancellation}) {
    subscriptions_.push_back(engine_.signals().subscribe(
        signal, [this, signal](const SignalEvent& event) { on_signal(signal, event); }));
  }
  thread_ = detail::start_without_signals([this] { run(); });
}

ChangeFeed::~ChangeFeed() {
  subscriptions_.clear();
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ChangeFeed::listen(const Interest& interest) {
  const std::lock_guard lock{mutex_};
  stats_listeners_ += interest.stats ? 1 : 0;
  task_listeners_ += interest.tasks ? 1 : 0;
  for (const TaskId id : interest.only) {
    ++watched_[id];
    told_gone_.erase(id);
  }
  wake_.notify_one();
}

void ChangeFeed::unlisten(const Interest& interest) {
  const std::lock_guard lock{mutex_};
  stats_listeners_ -= interest.stats ? 1 : 0;
  task_listeners_ -= interest.tasks ? 1 : 0;
  for (const TaskId id : interest.only) {
    const auto watched = watched_.find(id);
    if (watched == watched_.end() || --watched->second > 0) continue;
    watched_.erase(watched);
    told_gone_.erase(id);
  }
}

std::shared_ptr<const Observation> ChangeFeed::last_observation() const {
  const std::lock_guard lock{mutex_};
  return observation_;
}

std::shared_ptr<const Change> ChangeFeed::last_sample() const {
  const std::lock_guard lock{mutex_};
  return sample_;
}

void ChangeFeed::on_signal(Signal signal, const SignalEvent& event) {
  const std::lock_guard lock{mutex_};
  if (task_listeners_ == 0) return;
  // What was submitted is among the newest, named or not.
  if (event.tasks.empty() && signal != Signal::work) more_than_named_ = true;
  for (const TaskId id : event.tasks) {
    if (named_.size() == kMostNamed) {
      more_than_named_ = true;
      break;
    }
    named_.insert(id);
  }
  signalled_ = true;
  wake_.notify_one();
}

void ChangeFeed::run() {
  std::unique_lock lock{mutex_};
  Steady::time_point looked{};
  Steady::time_point earliest{};
  while (!stopping_) {
    const bool listened = stats_listeners_ > 0 || task_listeners_ > 0;
    const auto now = Steady::now();
    const auto regular = looked == Steady::time_point{}
                             ? now
                             : looked + (listened ? Steady::duration{kRegularly} : kSeldom);
    const auto until = std::max(earliest, signalled_ && task_listeners_ > 0 ? now : regular);
    if (now < until) {
      wake_.wait_until(lock, until);
      continue;
    }
    const bool tasks_wanted = task_listeners_ > 0;
    signalled_ = false;
    lock.unlock();
    counting_ = {};
    const bool worked = look(listened, tasks_wanted);
    lock.lock();
    if (!worked) observation_.reset();
    looked = now;
    const auto end = Steady::now();
    earliest = end + std::max<Steady::duration>(kShortestGap, kIdleParts * (end - now - counting_));
  }
}

bool ChangeFeed::look(bool listened, bool tasks_wanted) {
  try {
    // A little early is better than a whole turn late.
    const auto due = stats_at_ + (listened ? Steady::duration{kRegularly} : kSeldom) - 100ms;
    if (Steady::now() >= std::max(due, count_again_)) look_at_stats();
    if (tasks_wanted) {
      look_at_tasks();
    } else {
      knows_tasks_ = false;
    }
    if (std::exchange(in_trouble_, false)) logger_.info("the storage can be read again");
    return true;
  } catch (const std::exception& error) {
    if (!std::exchange(in_trouble_, true)) {
      logger_.warning(fmt::format("cannot look for changes: {}", error.what()));
    }
    return false;
  }
}

void ChangeFeed::look_at_stats() {
  const auto begin = Steady::now();
  auto seen = std::make_shared<const Observation>(observer_.look());
  stats_at_ = Steady::now();
  counting_ = stats_at_ - begin;
  count_again_ = stats_at_ + kIdleParts * counting_;
  history_.add(*seen);
  const std::optional<Sample> sample = live_.add(*seen);
  {
    const std::lock_guard lock{mutex_};
    observation_ = std::move(seen);
  }
  if (sample) publish_sample(*sample);
}

void ChangeFeed::publish_sample(const Sample& sample) {
  auto change = std::make_shared<Change>();
  change->kind = Change::Kind::stats;
  change->frame = event("stats", to_json(sample));
  {
    const std::lock_guard lock{mutex_};
    sample_ = change;
  }
  std::string essence = essence_of(sample);
  const auto now = Steady::now();
  if (essence == published_ && now < published_at_ + kAtLeast) return;
  published_ = std::move(essence);
  published_at_ = now;
  publish_(std::move(change));
}

std::unordered_set<TaskId> ChangeFeed::take_turn() {
  std::unordered_set<TaskId> turn;
  auto next = last_watched_ ? watched_.upper_bound(*last_watched_) : watched_.begin();
  while (turn.size() < std::min(kMostWatched, watched_.size())) {
    if (next == watched_.end()) next = watched_.begin();
    turn.insert(next->first);
    last_watched_ = next->first;
    ++next;
  }
  return turn;
}

void ChangeFeed::look_at_tasks() {
  std::vector<TaskId> asked_for;
  std::unordered_set<TaskId> watched;
  std::unordered_set<TaskId> waiting;  ///< watched, but it is not their turn
  std::unordered_set<TaskId> named;
  bool more = false;
  {
    const std::lock_guard lock{mutex_};
    watched = take_turn();
    for (const auto& [id, listeners] : watched_) {
      if (!watched.contains(id)) waiting.insert(id);
    }
    named.swap(named_);
    more = std::exchange(more_than_named_, false);
  }
  for (const TaskId id : named) {
    if (!watched.contains(id)) asked_for.push_back(id);
  }
  asked_for.insert(asked_for.end(), watched.begin(), watched.end());

  std::unordered_map<TaskId, TaskRecord> found;
  const PageRequest newest{.page = 1, .page_size = kNewest, .documents = false, .count = false};
  std::vector<TaskId> listed;
  TaskPage page = engine_.catalog().list({}, newest);
  for (TaskRecord& task : page.items) {
    const TaskId id = task.data.id;
    listed.push_back(id);
    found.try_emplace(id, std::move(task));
  }
  if (!knows_tasks_) newest_.forget();
  std::vector<TaskId> gone = newest_.deleted(std::move(listed), !page.next);
  for (TaskRecord& task : engine_.catalog().list({{TaskStatus::running}, {}, {}}, newest).items) {
    const TaskId id = task.data.id;
    found.try_emplace(id, std::move(task));
  }
  std::erase_if(asked_for, [&](TaskId id) { return found.contains(id); });
  for (TaskRecord& task : engine_.catalog().find_all(asked_for)) {
    const TaskId id = task.data.id;
    found.try_emplace(id, std::move(task));
  }
  {
    const std::lock_guard lock{mutex_};
    for (const TaskId id : asked_for) {
      if (found.contains(id) || !watched_.contains(id)) continue;
      if (told_gone_.insert(id).second && std::ranges::find(gone, id) == gone.end()) {
        gone.push_back(id);
      }
    }
  }

  auto changed = std::make_shared<Change>();
  changed->kind = Change::Kind::tasks;
  std::unordered_map<TaskId, Fingerprint> seen;
  for (const auto& [id, task] : found) {
    const Fingerprint now = Fingerprint::of(task);
    seen.emplace(id, now);
    const auto before = seen_.find(id);
    const bool is_news =
        knows_tasks_ ? before == seen_.end() || before->second != now : named.contains(id);
    if (!is_news) continue;
    if (changed->items.size() == kMostItems) {
      more = true;
      break;
    }
    changed->tasks.push_back(id);
    changed->items.push_back(errand::to_json(task));
  }
  // What nobody looked at is compared when its turn has come.
  for (const TaskId id : waiting) {
    const auto before = seen_.find(id);
    if (before != seen_.end()) seen.try_emplace(id, before->second);
  }
  seen_ = std::move(seen);
  // What changed since somebody came, before this first look, cannot be told from what was so
  // before: whoever has read meanwhile reads once more.
  if (!std::exchange(knows_tasks_, true)) more = true;
  if (!changed->items.empty() || more) {
    changed->more = more;
    changed->frame = event("tasks", fmt::format(R"({{"items":[{}],"more":{}}})",
                                                fmt::join(changed->items, ","), more));
    publish_(std::move(changed));
  }
  if (!gone.empty()) {
    auto removed = std::make_shared<Change>();
    removed->kind = Change::Kind::removed;
    boost::json::array ids;
    for (const TaskId id : gone) ids.emplace_back(id.to_string());
    removed->frame =
        event("removed", boost::json::serialize(boost::json::object{{"taskIds", std::move(ids)}}));
    removed->tasks = std::move(gone);
    publish_(std::move(removed));
  }
}

}  // namespace errand::http
