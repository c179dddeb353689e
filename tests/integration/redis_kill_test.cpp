#include "contract/redis_transport_under_test.hpp"
#include "integration/killed_consumer.hpp"

namespace errand::testing {
namespace {

/// Streams of one server, and another storage on it that is reached by another way.
class OnRedis : public KilledConsumer {
 protected:
  OnRedis() { clock.set(app_.clock().now()); }

  std::unique_ptr<Transport> open(Place place, const std::string& queue) override {
    RedisTransportUnderTest& storage = place == Place::app ? app_ : elsewhere_;
    return storage.open("queue_name=" + queue, TransportOptions::Open::create);
  }

  void pass_time(std::chrono::milliseconds time) override {
    KilledConsumer::pass_time(time);
    app_.pass_time(time);
    elsewhere_.pass_time(time);
  }

 private:
  RedisTransportUnderTest app_{"redis+unix://" + RedisServer::socket()};
  RedisTransportUnderTest elsewhere_{"redis://127.0.0.1:" + RedisServer::number_in("port")};
};

}  // namespace

TEST_P(OnRedis, AKilledConsumerLosesNothing) { expect_that_nothing_is_lost(); }

INSTANTIATE_TEST_SUITE_P(At, OnRedis, all_deaths(), death_name);

}  // namespace errand::testing
