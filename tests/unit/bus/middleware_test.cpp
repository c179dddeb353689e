#include "errand/middleware.hpp"

#include <boost/describe.hpp>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "errand/bus.hpp"
#include "errand/errors.hpp"
#include "errand/memory_transport.hpp"

#include "support/recording_logger.hpp"

namespace errand::testing {

struct Mail {
  std::string to;
};
BOOST_DESCRIBE_STRUCT(Mail, (), (to))

namespace {

constexpr const char* kType = "mail";

Rules address_rules() {
  Rules rules;
  rules.add<Mail>(kType, [](const Mail& mail) {
    if (mail.to.find('@') == std::string::npos) throw ValidationException{"`to` is no address"};
  });
  return rules;
}

std::string run(const Handlers& handlers, const std::string& body,
                Logger& logger = silent_logger()) {
  TaskContext context{TaskId::generate(), 2, {}, logger};
  return handlers.run(Envelope{kType, body}, context);
}

TEST(Rules, WhatBreaksOneIsRefusedForever) {
  const Rules rules = address_rules();
  Handlers handlers;
  int handled = 0;
  handlers.use(validate_by(rules));
  handlers.add<Mail>(kType, [&](const Mail&) { ++handled; });
  EXPECT_NO_THROW(run(handlers, R"({"to":"a@b"})"));
  EXPECT_THROW(run(handlers, R"({"to":"ab"})"), Unrecoverable);
  EXPECT_THROW(run(handlers, R"({"to":7})"), Unrecoverable);
  EXPECT_EQ(handled, 1);
}

TEST(Rules, TheBusRefusesBeforeItSends) {
  const Rules rules = address_rules();
  MessageTypes types;
  types.add<Mail>(kType);
  MemoryTransport transport;
  Bus bus{types};
  bus.route("*", transport).check_by(rules);
  bus.send(Mail{"a@b"});
  EXPECT_THROW(bus.send(Mail{"ab"}), ValidationException);
  const std::vector<Mail> mails{Mail{"c@d"}, Mail{"nobody"}};
  EXPECT_THROW(bus.send_all(mails), ValidationException);
  EXPECT_EQ(transport.sent().size(), 1U);
}

class Journal : public Transaction {
 public:
  explicit Journal(std::vector<std::string>& lines) : lines_{lines} { lines_.push_back("begin"); }
  ~Journal() override { lines_.push_back(committed_ ? "end" : "rollback"); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  void commit() override {
    lines_.push_back("commit");
    committed_ = true;
  }

 private:
  std::vector<std::string>& lines_;
  bool committed_ = false;
};

TEST(InTransaction, CommitsWhatReturnsAndRollsBackWhatThrows) {
  std::vector<std::string> lines;
  Handlers handlers;
  handlers.use(in_transaction([&] { return std::make_unique<Journal>(lines); }));
  handlers.add<Mail>(kType, [&](const Mail& mail) {
    lines.push_back(mail.to);
    if (mail.to == "bad") throw std::runtime_error{"no"};
  });
  run(handlers, R"({"to":"good"})");
  EXPECT_EQ(lines, (std::vector<std::string>{"begin", "good", "commit", "end"}));
  lines.clear();
  EXPECT_THROW(run(handlers, R"({"to":"bad"})"), std::runtime_error);
  EXPECT_EQ(lines, (std::vector<std::string>{"begin", "bad", "rollback"}));
}

TEST(LogRuns, TellsOfSuccessAndFailure) {
  RecordingLogger logger;
  Handlers handlers;
  handlers.use(log_runs());
  handlers.add<Mail>(kType, [](const Mail& mail) {
    if (mail.to == "bad") throw std::runtime_error{"no"};
  });
  run(handlers, R"({"to":"good"})", logger);
  EXPECT_TRUE(logger.says("attempt 2: done after"));
  EXPECT_THROW(run(handlers, R"({"to":"bad"})", logger), std::runtime_error);
  EXPECT_TRUE(logger.says("std::runtime_error: no after"));
}

}  // namespace
}  // namespace errand::testing
