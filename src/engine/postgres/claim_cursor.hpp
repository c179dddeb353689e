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
/// the next one is due.
class ClaimCursor {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// Where the last claim ended, as far as this process knows. Nothing: at the beginning.
  [[nodiscard]] std::optional<Place> start(Time now) const {
    if (now >= scan_due_) return std::nullopt;
    return last_;
  }

  /// The same, if somebody else has begun at the beginning since.
  [[nodiscard]] std::optional<Place> start_if_scanned() const {
    if (scan_due_ == kNow) return std::nullopt;
    return last_;
  }
  /// Until the next claim from the beginning, as far as this process knows.
  [[nodiscard]] Duration until_scan(Time now) const { return scan_due_ - now; }

  /// A claim from the beginning.
  struct Scan {
    Duration took;        ///< by the server
    std::size_t claimed;  ///< how many
    std::optional<Place> first;
    std::optional<Place> last;
    /// Until the next one: said to all who go on where it ended.
    std::optional<Duration> next_scan{};
  };
  void scanned(const Scan& scan, Time now) {
    const bool alone = last_ && scan.first &&
                       scan.first->seq - last_->seq <= static_cast<std::int64_t>(2 * scan.claimed);
    if (scan.last) last_ = scan.last;
    // One that got nothing does not say how long it took to look.
    if (scan.claimed > 0) slow_scans_ = scan.took >= kSlowScan ? slow_scans_ + 1 : 0;
    if (scan.next_scan) {
      scan_due_ = *scan.next_scan > Duration{0} ? now + *scan.next_scan : kNow;
    } else if (slow_scans_ >= 2) {  // once may be a hiccup of the server
      scan_due_ = now + kBetweenScans;
    } else if (scan.claimed >= kMany && alone) {
      scan_due_ = now + std::clamp<Duration>(kScansShare * scan.took, kAfterMany, kBetweenScans);
    } else if (now >= scan_due_) {
      scan_due_ = kNow;
    }
  }

  /// A claim from start() ended here.
  void advanced(Place last) { last_ = last; }
  /// Others say so, of whom one has begun at the beginning.
  void scan_is_due(Time when) { scan_due_ = when; }

 private:
  static constexpr Time kNow{};
  static constexpr std::chrono::milliseconds kSlowScan{25};
  static constexpr std::chrono::seconds kBetweenScans{1};
  static constexpr std::chrono::milliseconds kAfterMany{100};
  static constexpr int kScansShare = 50;
  static constexpr std::size_t kMany = 50;

  std::optional<Place> last_;
  Time scan_due_ = kNow;
  int slow_scans_ = 0;
};

}  // namespace errand::postgres
