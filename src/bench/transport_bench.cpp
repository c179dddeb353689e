#include "bench/transport_bench.hpp"

#include <algorithm>

#include "errand/errors.hpp"
#include "errand/handler.hpp"
#include "errand/memory_transport.hpp"
#include "errand/message_consumer.hpp"

#include "bench/stopwatch.hpp"

namespace errand::bench {
namespace {

constexpr const char* kType = "errand.bench";
constexpr std::size_t kBulk = 1000;

Outgoing message() {
  return {.message = {.body = R"({"text":")" + std::string(180, 'x') + "\"}",
                      .headers = {{"type", kType}, {"Content-Type", "application/json"}}}};
}

double send(Transport& transport, std::size_t count, std::size_t at_once) {
  const std::vector<Outgoing> batch(at_once, message());
  const Stopwatch watch;
  for (std::size_t sent = 0; sent < count; sent += at_once) {
    transport.send(std::span{batch}.first(std::min(at_once, count - sent)));
  }
  return watch.rate(count);
}

double drain(Transport& transport, std::size_t count) {
  Handlers handlers;
  FirstTime first_handled;
  handlers.add_raw(kType, [&](const Envelope&, TaskContext&) -> std::string {
    first_handled.note();
    return "null";
  });
  MemoryTransport failed{"failed"};
  MessageConsumerOptions options;
  options.worker.drain = true;
  MessageConsumer consumer{{{&transport, &failed}}, handlers, options};
  const WorkerReport report = consumer.run({});
  const double rate = first_handled.watch().rate(count);
  if (report.completed != static_cast<std::int64_t>(count)) {
    throw StorageException{"of " + std::to_string(count) + " messages " +
                               std::to_string(report.completed) + " were handled",
                           StorageException::Retry::useless};
  }
  return rate;
}

}  // namespace

std::vector<Figure> measure(Transport& transport, const Plan& plan,
                            const std::function<void(const std::string&)>& progress) {
  if (!transport.list(1, 0).empty()) {
    throw ConfigurationException{"transport " + transport.name() +
                                 " has messages; measure one that is empty, as with "
                                 "queue_name=bench in its DSN"};
  }
  const std::size_t one_by_one = std::max<std::size_t>(plan.tasks / 10, 100);
  progress("send_seq");
  const double send_seq = send(transport, one_by_one, 1);
  static_cast<void>(drain(transport, one_by_one));
  std::vector<double> sent;
  std::vector<double> drained;
  for (std::size_t round = 1; round <= plan.rounds; ++round) {
    const std::string which = " (round " + std::to_string(round) + ")";
    progress("send_bulk" + which);
    sent.push_back(send(transport, plan.tasks, kBulk));
    progress("messages_drain" + which);
    drained.push_back(drain(transport, plan.tasks));
  }
  return {{"send_seq", send_seq}, {"send_bulk", median(sent)}, {"messages_drain", median(drained)}};
}

}  // namespace errand::bench
