#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "errand/timestamp.hpp"

namespace errand::postgres {

/// A task's place in its queue.
struct Place {
  int priority;
  Timestamp available_at;
  std::int64_t seq;
};

/// Where the next claim of one queue begins to look.
///
/// Claimed tasks leave dead entries behind at the beginning of the index, until the server cleans
/// them away, and each claim wades through all of them. So after a claim of many tasks the next
/// ones begin where the last one ended, for a moment that is longer where wading takes longer: a
/// fiftieth of the time. That does not help where many others claim meanwhile, whose entries come
/// after that place; there the first scan marks the dead ones for all. Under a transaction that
/// stays open for long the server cannot clean up: while that shows, all claims do so, except one a
/// second. Those from the beginning also find tasks of earlier places: retried, released, of higher
/// priority, or committed late. It is enough if one of all workers makes them: bundles tell when
/// somebody last did.
class ClaimCursor {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// Where the last claim ended, as far as this process knows. Nothing: at the beginning.
  [[nodiscard]] std::optional<Place> start(Time now) const {
    if (since_scan(now) >= pause_) return std::nullopt;
    return last_;
  }

  /// The same, if somebody else has begun at the beginning since.
  [[nodiscard]] std::optional<Place> start_if_scanned() const {
    if (pause_ == Duration{0}) return std::nullopt;
    return last_;
  }
  /// For so long after a claim from the beginning there need not be another one.
  [[nodiscard]] Duration pause() const { return pause_; }
  /// Since the last one that is known of.
  [[nodiscard]] Duration since_scan(Time now) const { return now - scanned_at_; }

  /// A claim from the beginning.
  struct Scan {
    Duration took;        ///< by the server
    std::size_t claimed;  ///< how many
    std::optional<Place> first;
    std::optional<Place> last;
    bool shared = false;  ///< others go on where it ended, too
  };
  void scanned(const Scan& scan, Time now) {
    const bool alone = scan.shared || (last_ && scan.first &&
                                       scan.first->seq - last_->seq <=
                                           static_cast<std::int64_t>(2 * scan.claimed));
    if (scan.last) last_ = scan.last;
    // One that got nothing does not say how long it took to look.
    if (scan.claimed > 0) slow_scans_ = scan.took >= kSlowScan ? slow_scans_ + 1 : 0;
    // Once may be a hiccup of the server.
    if (slow_scans_ >= 2) {
      pause_ = kBetweenScans;
    } else if (scan.claimed >= kMany && alone) {
      pause_ = std::clamp<Duration>(kScansShare * scan.took, kAfterMany, kBetweenScans);
    } else if (now >= scanned_at_ + pause_) {
      pause_ = Duration{0};
    } else {
      return;  // where it began does not count
    }
    scanned_at_ = now;
  }

  /// A claim from start() ended here.
  void advanced(Place last) { last_ = last; }
  /// Somebody began at the beginning then.
  void scanned_elsewhere(Time when) { scanned_at_ = std::max(scanned_at_, when); }

 private:
  static constexpr std::chrono::milliseconds kSlowScan{25};
  static constexpr std::chrono::seconds kBetweenScans{1};
  static constexpr std::chrono::milliseconds kAfterMany{100};
  static constexpr int kScansShare = 50;
  static constexpr std::size_t kMany = 50;

  std::optional<Place> last_;
  Time scanned_at_{};
  Duration pause_{0};
  int slow_scans_ = 0;
};

}  // namespace errand::postgres
