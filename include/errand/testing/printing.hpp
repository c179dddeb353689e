#pragma once

#include <ostream>

#include "errand/task_id.hpp"
#include "errand/task_queue.hpp"
#include "errand/task_status.hpp"

/// How GoogleTest shows Errand's values in failures; it would show their bytes otherwise. It looks
/// for PrintTo() in the namespace of the value.
namespace errand {

inline void PrintTo(const TaskId& id, std::ostream* out) { *out << id.to_string(); }

inline void PrintTo(TaskStatus status, std::ostream* out) { *out << to_string(status); }

inline void PrintTo(SettleStatus status, std::ostream* out) {
  *out << (status == SettleStatus::settled ? "settled" : "lease_lost");
}

inline void PrintTo(CancelStatus status, std::ostream* out) {
  switch (status) {
    case CancelStatus::cancelled:
      *out << "cancelled";
      return;
    case CancelStatus::requested:
      *out << "requested";
      return;
    case CancelStatus::already_final:
      *out << "already_final";
      return;
    case CancelStatus::not_found:
      *out << "not_found";
      return;
  }
}

inline void PrintTo(Finish::Kind kind, std::ostream* out) {
  switch (kind) {
    case Finish::Kind::finished:
      *out << "finished";
      return;
    case Finish::Kind::expired:
      *out << "expired";
      return;
    case Finish::Kind::unknown:
      *out << "unknown";
      return;
  }
}

}  // namespace errand
