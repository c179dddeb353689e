#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <unordered_set>

#include "errand/logger.hpp"
#include "errand/tasks.hpp"

#include "http/change_feed.hpp"
#include "http/event_hub.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"
#include "http/readiness.hpp"
#include "http/routes.hpp"
#include "http/server.hpp"
#include "http/service.hpp"
#include "http/submit_queue.hpp"

namespace errand::http {

/// A request's way: its route, and what came of it.
struct Served {
  Match match{};
  Response response{};
  std::optional<ChangeFeed::Interest> stream{};  ///< a stream of events follows, not the response

  /// While the client waits for a result: cancelled, it is not waited for any longer.
  std::shared_ptr<Timer> wait{};
};

enum class When : bool { if_idle, now };
/// Ends a connection.
using HangUp = std::function<void(When)>;

/// What all connections share: judges requests, and serves them. Belongs to the loop's thread.
class Front {
 public:
  Front(std::shared_ptr<asio::io_context> loop_in, BlockingPools& pools_in, Service& service_in,
        Tasks& tasks_in, ChangeFeed& feed_in, const ServerOptions& options_in, Logger& logger_in)
      : loop{*loop_in},
        feed{feed_in},
        options{options_in},
        logger{logger_in},
        pools_{pools_in},
        service_{service_in},
        tasks_{tasks_in},
        submits_{*loop_in, pools_in.storage, service_in.engine},
        readiness_{*loop_in, pools_in.storage, service_in.engine, logger_in},
        loop_owner_{std::move(loop_in)} {}

  /// Looks at a header: whether the request may be made, and which route it takes. Throws Problem;
  /// `request` and `served` hold what was found until then.
  void judge(const MessageHeader& header, Request& request, Served& served) const;

  /// Throws Problem and Errand's exceptions.
  [[nodiscard]] Awaitable<Response> serve(Served& served, const Request& request);

  /// As problem_response(); what is a mistake of ours is logged.
  [[nodiscard]] Response explain(const std::exception_ptr& error) const;

  /// For the metrics, and for the log if that wants to know so much.
  void record(const Request& request, const Served& served,
              std::chrono::steady_clock::duration took) const;

  /// No more requests; those that wait for something are answered now.
  void stop();

  /// What is still under way is cut off.
  void cut_off();

  asio::io_context& loop;
  ChangeFeed& feed;
  const ServerOptions& options;
  Logger& logger;
  EventHub hub{};
  bool stopping = false;

 private:
  friend class OpenConnection;
  friend class Listening;

  [[nodiscard]] Awaitable<Response> submit(const Request& request);
  [[nodiscard]] Awaitable<Response> wait_for_result(const Call& call, Served& served);
  [[nodiscard]] Awaitable<> wait_until_final(TaskId id, std::chrono::milliseconds most,
                                             Served& served);
  [[nodiscard]] Awaitable<Response> tell_readiness(const Request& request);
  [[nodiscard]] static ChangeFeed::Interest interest_of(const Request& request);

  BlockingPools& pools_;
  Service& service_;
  Tasks& tasks_;
  SubmitQueue submits_;
  Readiness readiness_;
  std::unordered_set<Timer*> waits_;
  std::list<HangUp> connections_;

  /// For callbacks that may come late.
  std::shared_ptr<asio::io_context> loop_owner_;

 public:
  [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }
};

/// While it lives, the connection counts, and hears of the server's end.
class OpenConnection {
 public:
  OpenConnection(Front& front, HangUp hang_up) : front_{front} {
    front_.connections_.push_front(std::move(hang_up));
    place_ = front_.connections_.begin();
    front_.service_.metrics.add(Metrics::Gauge::connections, 1);
  }
  ~OpenConnection() {
    front_.connections_.erase(place_);
    front_.service_.metrics.add(Metrics::Gauge::connections, -1);
  }
  OpenConnection(const OpenConnection&) = delete;
  OpenConnection& operator=(const OpenConnection&) = delete;

 private:
  Front& front_;
  std::list<HangUp>::iterator place_;
};

/// While it lives, the subscriber gets what is published.
class Listening {
 public:
  Listening(Front& front, Subscriber& subscriber) : front_{front}, subscriber_{subscriber} {
    front_.hub.add(subscriber_);
    front_.feed.listen(subscriber_.interest);
    front_.service_.metrics.add(Metrics::Gauge::event_streams, 1);
  }
  ~Listening() {
    front_.hub.remove(subscriber_);
    front_.feed.unlisten(subscriber_.interest);
    front_.service_.metrics.add(Metrics::Gauge::event_streams, -1);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Front& front_;
  Subscriber& subscriber_;
};

}  // namespace errand::http
