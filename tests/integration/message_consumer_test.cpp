#include "errand/message_consumer.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "errand/sqlite.hpp"
#include "errand/tasks.hpp"
#include "errand/testing/fake_clock.hpp"

#include "support/eventually.hpp"
#include "support/milestone.hpp"
#include "support/recording_logger.hpp"
#include "support/temp_dir.hpp"

namespace errand::testing {
namespace {

using std::chrono::seconds;

constexpr const char* kClass = R"(App\Message\Sms)";

/// Consumers of a file of their own. Time passes when the test says so.
class MessageConsumerTest : public ::testing::Test {
 protected:
  using Body = std::function<std::string(const Envelope&, TaskContext&)>;

  MessageConsumerTest() {
    options.worker.concurrency = 1;
    options.worker.poll_interval = std::chrono::milliseconds{5};
    options.worker.drain = true;
    options.clock = &clock;
  }

  [[nodiscard]] std::unique_ptr<Transport> open(const std::string& queue) {
    TransportOptions transport;
    transport.clock = &clock;
    return open_sqlite_transport(
        Dsn{"sqlite://" + path() + "?synchronous=normal&queue_name=" + queue}, transport);
  }

  [[nodiscard]] std::string path() const { return (directory / "app.db").string(); }

  void send(Transport& to, const std::string& body = "{}", const std::string& type = kClass) {
    const Outgoing message{.message = {.body = body, .headers = {{"type", type}, {"X-Own", "x"}}}};
    to.send({&message, 1});
  }

  void handle(Body body, const std::string& type = kClass) {
    handlers.add_raw(type, std::move(body));
  }

  [[nodiscard]] std::vector<ConsumedTransport> consumed() {
    return {{.transport = async.get(), .failure = failed.get(), .retry = retry}};
  }

  /// Until no message is due.
  WorkerReport drain() {
    MessageConsumer consumer{consumed(), handlers, options, logger};
    return consumer.run({});
  }

  [[nodiscard]] std::vector<StoredMessage> dead_letters() { return failed->list(100, 0); }

  [[nodiscard]] static std::string stamp(const StoredMessage& message, const std::string& name) {
    const auto header = message.message.headers.find(
        R"(X-Message-Stamp-Symfony\Component\Messenger\Stamp\)" + name);
    return header == message.message.headers.end() ? "" : header->second;
  }

  TempDir directory;
  FakeClock clock;
  std::unique_ptr<Transport> async = open("async");
  std::unique_ptr<Transport> failed = open("failed");
  RetryPolicy retry;
  Handlers handlers;
  MessageConsumerOptions options;
  RecordingLogger logger;
};

TEST_F(MessageConsumerTest, AHandledMessageIsGone) {
  std::vector<std::string> seen;
  handle([&](const Envelope& envelope, TaskContext& context) -> std::string {
    EXPECT_EQ(context.attempt(), 1);
    EXPECT_EQ(context.queue(), "async");
    EXPECT_EQ(context.headers().at("X-Own"), "x");
    seen.push_back(envelope.body());
    return "null";
  });
  send(*async, R"({"n":1})");
  send(*async, R"({"n":2})");
  const WorkerReport report = drain();
  EXPECT_EQ(report.completed, 2);
  EXPECT_EQ(seen, (std::vector<std::string>{R"({"n":1})", R"({"n":2})"}));
  EXPECT_TRUE(async->list(10, 0).empty());
  EXPECT_TRUE(dead_letters().empty());
}

TEST_F(MessageConsumerTest, ATypeMayHaveAnotherNameOnTheWire) {
  std::atomic<int> handled = 0;
  handle(
      [&](const Envelope& envelope, TaskContext&) -> std::string {
        EXPECT_EQ(envelope.type(), "sms.send");
        ++handled;
        return "null";
      },
      "sms.send");
  options.class_names["sms.send"] = kClass;
  send(*async);
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(handled, 1);
}

TEST_F(MessageConsumerTest, AFailingMessageIsTriedAgainAfter1And5And25SecondsThenADeadLetter) {
  std::vector<int> attempts;
  handle([&](const Envelope&, TaskContext& context) -> std::string {
    attempts.push_back(context.attempt());
    throw std::runtime_error{"boom"};
  });
  send(*async, R"({"n":1})");
  for (const int wait : {1, 5, 25}) {
    EXPECT_EQ(drain().retried, 1);
    const std::vector<StoredMessage> waiting = async->list(10, 0);
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_EQ(waiting[0].available_at, clock.now() + seconds{wait});
    EXPECT_EQ(waiting[0].message.headers.at("X-Own"), "x");
    clock.advance(seconds{wait} - std::chrono::milliseconds{1});
    EXPECT_EQ(drain().retried, 0) << "not before its time";
    clock.advance(std::chrono::milliseconds{1});
  }
  EXPECT_EQ(drain().failed, 1);
  EXPECT_EQ(attempts, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(async->list(10, 0).empty());
  ASSERT_EQ(dead_letters().size(), 1U);
  const StoredMessage letter = dead_letters()[0];
  EXPECT_EQ(letter.message.body, R"({"n":1})");
  EXPECT_EQ(letter.message.headers.at("type"), kClass);
  EXPECT_EQ(letter.message.headers.at("X-Own"), "x");
  EXPECT_EQ(stamp(letter, "SentToFailureTransportStamp"), R"([{"originalReceiverName":"async"}])");
  EXPECT_EQ(stamp(letter, "DelayStamp"),
            R"([{"delay":1000},{"delay":5000},{"delay":25000},{"delay":0}])");
  EXPECT_NE(stamp(letter, "ErrorDetailsStamp").find(R"("exceptionMessage":"boom")"),
            std::string::npos);
}

TEST_F(MessageConsumerTest, AMessageHasOneIdInAllItsAttemptsAndInTheLog) {
  std::vector<std::string> ids;
  handle([&](const Envelope&, TaskContext& context) -> std::string {
    ids.emplace_back(context.message_id());
    throw std::runtime_error{"boom"};
  });
  retry.max_retries = 2;
  send(*async);
  const std::string id = async->list(1, 0).at(0).id;
  for (int i = 0; i < 3; ++i) {
    drain();
    clock.advance(seconds{60});
  }
  EXPECT_EQ(ids, std::vector<std::string>(3, id));
  EXPECT_EQ(stamp(dead_letters().at(0), "TransportMessageIdStamp"), R"([{"id":")" + id + R"("}])");
  EXPECT_TRUE(logger.says("message " + id + " of async goes back to it, due in 1000 ms"));
  EXPECT_TRUE(logger.says("message " + id +
                          " of async goes to failed: errand failed list --transport failed"));
}

TEST_F(MessageConsumerTest, TheLogSaysWhenAMessageIsReallyDue) {
  handle([](const Envelope&, TaskContext&) -> std::string { throw std::runtime_error{"boom"}; });
  retry.delay = std::chrono::milliseconds{300};
  clock.advance(std::chrono::milliseconds{200});
  send(*async);
  drain();
  EXPECT_TRUE(logger.says("due in 800 ms")) << "the table has whole seconds";
  EXPECT_EQ(async->next_due(), std::chrono::milliseconds{800});
}

TEST_F(MessageConsumerTest, UnrecoverableGoesToTheFailureTransportAtOnce) {
  handle([](const Envelope&, TaskContext&) -> std::string { throw Unrecoverable{"never"}; });
  send(*async);
  EXPECT_EQ(drain().failed, 1);
  EXPECT_EQ(dead_letters().size(), 1U);
}

TEST_F(MessageConsumerTest, RecoverableIsTriedAgainHoweverOften) {
  handle([](const Envelope&, TaskContext&) -> std::string { throw Recoverable{"not yet"}; });
  retry = {.max_retries = 1, .delay = seconds{1}, .multiplier = 1};
  send(*async);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(drain().retried, 1);
    clock.advance(seconds{1});
  }
  EXPECT_TRUE(dead_letters().empty());
}

TEST_F(MessageConsumerTest, MessagesThatCannotBeReadGoToTheFailureTransportAndTheOthersAreHandled) {
  std::atomic<int> handled = 0;
  handle([&](const Envelope&, TaskContext&) -> std::string {
    ++handled;
    return "null";
  });
  const std::string php =
      R"(O:36:\"Symfony\\Component\\Messenger\\Envelope\":1:{s:45:\")"
      R"(\0Symfony\\Component\\Messenger\\Envelope\0message\";O:5:\"App\\M\":0:{}})";
  const std::vector<Outgoing> messages{
      {.message = {.body = "{broken", .headers = {{"type", kClass}}}},
      {.message = {.body = "{}", .headers = {}}},
      {.message = {.body = "{}",
                   .headers = {{"type", kClass}, {"X-Message-Stamp-App\\S", R"({"no":"array"})"}}}},
      {.message = {.body = php, .headers = {}}},
      {.message = {.body = "{}", .headers = {{"type", kClass}}}},
  };
  async->send(messages);
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(handled, 1);
  EXPECT_TRUE(async->list(10, 0).empty());
  const std::vector<StoredMessage> letters = dead_letters();
  ASSERT_EQ(letters.size(), 4U);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    EXPECT_EQ(letters[i].message.body, messages[i].message.body);
    EXPECT_NE(stamp(letters[i], "ErrorDetailsStamp"), "") << i;
  }
  EXPECT_TRUE(logger.says("not a JSON array"));
}

TEST_F(MessageConsumerTest, ATypeWithoutHandlerIsTriedAgainSinceAnotherProgramMayHaveOne) {
  retry.max_retries = 1;
  send(*async, "{}", "App\\Unknown");
  EXPECT_EQ(drain().retried, 1);
  clock.advance(seconds{1});
  EXPECT_EQ(drain().failed, 1);
  ASSERT_EQ(dead_letters().size(), 1U);
  EXPECT_NE(stamp(dead_letters()[0], "ErrorDetailsStamp").find("no handler for type"),
            std::string::npos);
}

TEST_F(MessageConsumerTest, TheEarlierTransportIsServedFirst) {
  const std::unique_ptr<Transport> high = open("high");
  std::vector<std::string> seen;
  handle([&](const Envelope& envelope, TaskContext& context) -> std::string {
    seen.push_back(std::string{context.queue()} + envelope.body());
    return "null";
  });
  send(*async, "1");
  send(*high, "2");
  send(*async, "3");
  send(*high, "4");
  MessageConsumer consumer{{{.transport = high.get(), .failure = failed.get()},
                            {.transport = async.get(), .failure = failed.get()}},
                           handlers,
                           options};
  EXPECT_EQ(consumer.run({}).completed, 4);
  EXPECT_EQ(seen, (std::vector<std::string>{"high2", "high4", "async1", "async3"}));
}

TEST_F(MessageConsumerTest, TasksAreServedBesideMessages) {
  EngineOptions engine_options;
  engine_options.clock = &clock;
  const std::unique_ptr<Engine> engine =
      open_sqlite(Dsn{"sqlite://" + path() + "?synchronous=normal"}, engine_options);
  std::atomic<int> messages = 0;
  handle([&](const Envelope&, TaskContext&) -> std::string {
    ++messages;
    return "1";
  });
  handle(
      [](const Envelope&, TaskContext& context) -> std::string {
        context.progress(1, 2);
        return R"("a task")";
      },
      "a.task");
  NewTask task{TaskId::generate(), Envelope{"a.task", "{}"}, kDefaultQueue, {}, 0, RetryPolicy{}};
  engine->queue().submit({&task, 1});
  send(*async);
  options.tasks = engine.get();
  EXPECT_EQ(drain().completed, 2);
  EXPECT_EQ(messages, 1);
  EXPECT_EQ(engine->storage().load(task.id)->status, TaskStatus::completed);
}

TEST_F(MessageConsumerTest, ALongHandlerKeepsItsMessage) {
  Milestone started;
  Milestone may_end;
  handle([&](const Envelope&, TaskContext&) -> std::string {
    started.reach();
    EXPECT_TRUE(may_end.was_reached());
    return "null";
  });
  options.worker.drain = false;
  options.worker.limit = 1;
  options.worker.lease = std::chrono::milliseconds{1000};
  send(*async);
  MessageConsumer consumer{consumed(), handlers, options, logger};
  std::future<WorkerReport> report =
      std::async(std::launch::async, [&] { return consumer.run({}); });
  ASSERT_TRUE(started.was_reached());
  for (int i = 0; i < 3; ++i) {
    const Timestamp before = clock.now();
    clock.advance(async->redeliver_timeout() / 2);
    EXPECT_TRUE(eventually([&] { return async->list(1, 0).at(0).delivered_at > before; }));
    EXPECT_TRUE(open("async")->receive(1).empty());
  }
  may_end.reach();
  EXPECT_EQ(report.get().completed, 1);
  EXPECT_TRUE(async->list(10, 0).empty());
}

TEST_F(MessageConsumerTest, AMessageThatWasTakenOverIsNotForwarded) {
  handle([&](const Envelope&, TaskContext&) -> std::string {
    // As if this process had been stopped for longer than anybody waits.
    clock.advance(async->redeliver_timeout() + seconds{1});
    EXPECT_EQ(open("async")->receive(1).size(), 1U);
    throw std::runtime_error{"boom"};
  });
  send(*async);
  const WorkerReport report = drain();
  EXPECT_EQ(report.retried, 0);
  EXPECT_EQ(async->list(10, 0).size(), 1U) << "the successor's, and no retry beside it";
}

TEST_F(MessageConsumerTest, AStopHandsBackWhatWasNotBegun) {
  std::stop_source stop;
  handle([&](const Envelope&, TaskContext&) -> std::string {
    stop.request_stop();
    return "null";
  });
  options.worker.drain = false;
  for (int i = 0; i < 5; ++i) send(*async);
  MessageConsumer consumer{consumed(), handlers, options, logger};
  EXPECT_EQ(consumer.run(stop.get_token()).completed, 1);
  EXPECT_EQ(async->stats().ready, 4);
}

TEST_F(MessageConsumerTest, TheFailureTransportIsNotToBeConsumed) {
  const std::vector<ConsumedTransport> both{{.transport = async.get(), .failure = failed.get()},
                                            {.transport = failed.get(), .failure = failed.get()}};
  EXPECT_THROW((MessageConsumer{both, handlers, options}), ConfigurationException);
  EXPECT_THROW((MessageConsumer{{}, handlers, options}), ConfigurationException);
  retry.multiplier = 0;
  EXPECT_THROW((MessageConsumer{consumed(), handlers, options}), ConfigurationException);
}

/// A storage of tasks beside the messages, in another file.
class AsyncTaskMessageTest : public MessageConsumerTest {
 protected:
  AsyncTaskMessageTest() {
    options.tasks = storage.get();
    handle([](const Envelope& envelope, TaskContext&) -> std::string {
      if (envelope.body().find("bad") != std::string::npos) throw std::runtime_error{"no"};
      return R"({"sent":true})";
    });
  }

  TaskId saved() {
    const TaskData data = TaskData::pending(TaskId::generate(), "{}", system_clock().now());
    storage->storage().save(data);
    return data.id;
  }

  void send_task(const std::string& id, const std::string& to = "good") {
    send(*async,
         R"({"taskId":")" + id + R"(","payload":{"to":")" + to +
             R"("},"payloadClass":"App\\Message\\Sms"})",
         R"(App\Message\AsyncTaskMessage)");
  }

  [[nodiscard]] TaskData loaded(TaskId id) { return storage->storage().load(id).value(); }

  std::unique_ptr<Engine> storage =
      open_sqlite(Dsn{"sqlite://" + (directory / "tasks.db").string()});
};

TEST_F(AsyncTaskMessageTest, ARecordedTaskIsCompletedWithItsResult) {
  const TaskId id = saved();
  send_task(id.to_string());
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(loaded(id).status, TaskStatus::completed);
  EXPECT_EQ(loaded(id).result, R"({"sent":true})");
  EXPECT_TRUE(async->list(10, 0).empty());
}

TEST_F(AsyncTaskMessageTest, AFailureIsFinalAndInTheRecord) {
  const TaskId id = saved();
  send_task(id.to_string(), "bad");
  EXPECT_EQ(drain().failed, 1);
  EXPECT_EQ(loaded(id).status, TaskStatus::failed);
  EXPECT_NE(loaded(id).error.value().find("std::runtime_error"), std::string::npos);
  EXPECT_TRUE(dead_letters().empty());
}

TEST_F(AsyncTaskMessageTest, OneWithoutARecordIsRecorded) {
  const TaskId id = TaskId::generate();
  send_task(id.to_string());
  EXPECT_EQ(drain().completed, 1);
  EXPECT_EQ(loaded(id).status, TaskStatus::completed);
}

TEST_F(AsyncTaskMessageTest, ADoubleOfTheMessageRunsNothingAgain) {
  const TaskId id = saved();
  send_task(id.to_string());
  send_task(id.to_string());
  EXPECT_EQ(drain().completed, 1);
  send_task(id.to_string());
  EXPECT_EQ(drain().completed, 0);
  EXPECT_TRUE(async->list(10, 0).empty());
}

TEST_F(AsyncTaskMessageTest, ACancelledTaskIsNotRun) {
  const TaskId id = saved();
  storage->queue().cancel({&id, 1});
  send_task(id.to_string());
  EXPECT_EQ(drain().completed, 0);
  EXPECT_EQ(loaded(id).status, TaskStatus::cancelled);
}

TEST_F(AsyncTaskMessageTest, MoreThanAWorkerHoldsAreRunToTheEnd) {
  std::vector<TaskId> ids;
  for (int i = 0; i < 300; ++i) {
    ids.push_back(saved());
    send_task(ids.back().to_string());
  }
  EXPECT_EQ(drain().completed, 300);
  for (const TaskId id : ids) EXPECT_EQ(loaded(id).status, TaskStatus::completed);
}

TEST_F(AsyncTaskMessageTest, ABrokenOneIsADeadLetterAndOthersGoOn) {
  send_task("not-a-uuid");
  const TaskId id = saved();
  send_task(id.to_string());
  EXPECT_EQ(drain().completed, 1);
  ASSERT_EQ(dead_letters().size(), 1U);
  EXPECT_NE(stamp(dead_letters()[0], "ErrorDetailsStamp").find("no UUID"), std::string::npos);
}

TEST_F(AsyncTaskMessageTest, AWorkerWithoutTasksSaysWhatItLacks) {
  options.tasks = nullptr;
  send_task(TaskId::generate().to_string());
  drain();
  ASSERT_EQ(dead_letters().size(), 1U);
  EXPECT_NE(stamp(dead_letters()[0], "ErrorDetailsStamp").find("storage of the tasks"),
            std::string::npos);
}

TEST_F(AsyncTaskMessageTest, TasksComeFirstUnlessMessagesAreToldTo) {
  std::vector<std::string> order;
  handle(
      [&](const Envelope&, TaskContext& context) -> std::string {
        order.emplace_back(context.queue());
        return "null";
      },
      "note");
  options.worker.max_prefetch = 1;
  for (const bool messages_first : {false, true}) {
    order.clear();
    options.messages_first = messages_first;
    for (int i = 0; i < 3; ++i) {
      const NewTask task{.envelope = Envelope{"note", "{}"}};
      storage->queue().submit({&task, 1});
      send(*async, "{}", "note");
    }
    EXPECT_EQ(drain().completed, 6);
    const std::string first = messages_first ? "async" : "default";
    const std::string second = messages_first ? "default" : "async";
    EXPECT_EQ(order, (std::vector<std::string>{first, first, first, second, second, second}));
  }
}

}  // namespace
}  // namespace errand::testing
