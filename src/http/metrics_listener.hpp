#pragma once

#include <memory>
#include <string>

#include "http/access.hpp"
#include "http/listen_address.hpp"
#include "http/metrics.hpp"

namespace errand::http {

/// Serves /metrics and /healthz of a process that serves nothing else, in a thread of its own, from
/// construction until destruction, which waits for the thread.
class MetricsListener {
 public:
  /// The references must outlive it. Throws ConfigurationException: an address in use or not of
  /// this machine, or one that others reach without a token being there.
  MetricsListener(const ListenAddress& listen, const Access& access, const Metrics& metrics);
  ~MetricsListener();
  MetricsListener(const MetricsListener&) = delete;
  MetricsListener& operator=(const MetricsListener&) = delete;

  /// `http://127.0.0.1:9464/metrics`
  [[nodiscard]] std::string url() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errand::http
