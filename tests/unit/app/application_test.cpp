#include "errand/application.hpp"

#include <boost/describe/class.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "errand/errors.hpp"

#include "support/milestone.hpp"
#include "support/sqlite_file.hpp"

namespace shop {

struct Divide {
  using Result = int;
  int number = 0;
  int by = 0;
};
BOOST_DESCRIBE_STRUCT(Divide, (), (number, by))

struct SentOnly {
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(SentOnly, (), (number))

}  // namespace shop

namespace errand {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kPatience;
using testing::SqliteFile;

int divide(const shop::Divide& task) {
  if (task.by == 0) throw std::domain_error{"by zero"};
  return task.number / task.by;
}

SubmitOptions once() {
  SubmitOptions options;
  options.retry.max_retries = 0;
  return options;
}

TEST(Application, SubmitsAndRunsInOneProcess) {
  const SqliteFile file;
  Application app{file.dsn()};
  app.handle<shop::Divide>("divide", divide);
  const BackgroundWorker worker{app};
  EXPECT_EQ(app.tasks().submit(shop::Divide{42, 6}).get(kPatience), 7);
}

TEST(Application, RethrowsTheTypesItRegistered) {
  const SqliteFile file;
  Application app{file.dsn()};
  app.handle<shop::Divide>("divide", divide).rethrow<std::domain_error>();
  const BackgroundWorker worker{app};
  EXPECT_THROW(app.tasks().submit(shop::Divide{1, 0}, once()).get(kPatience), std::domain_error);
}

TEST(Application, RethrowsUnderTheNamesItWasGiven) {
  const SqliteFile file;
  Application app{file.dsn()};
  app.handle<shop::Divide>("divide", divide).rethrow<std::logic_error>("std::domain_error");
  const BackgroundWorker worker{app};
  EXPECT_THROW(app.tasks().submit(shop::Divide{1, 0}, once()).get(kPatience), std::logic_error);
}

TEST(Application, MiddlewareSurroundsItsHandlers) {
  const SqliteFile file;
  Application app{file.dsn()};
  app.handle<shop::Divide>("divide", divide)
      .use([](const Envelope&, TaskContext&, const Next& next) { return next() + "0"; });
  const BackgroundWorker worker{app};
  EXPECT_EQ(app.tasks().submit(shop::Divide{42, 6}).get(kPatience), 70);
}

TEST(Application, CanSendWhatItCannotRun) {
  const SqliteFile file;
  Application app{file.dsn()};
  app.message<shop::SentOnly>("sent.only");
  const TaskHandle task = app.tasks().submit(shop::SentOnly{1});
  EXPECT_EQ(task.status(), TaskStatus::pending);
  EXPECT_FALSE(app.handlers().has("sent.only"));
}

TEST(Application, RefusesTwoHandlersForOneType) {
  const SqliteFile file;
  Application app{file.dsn()};
  app.handle<shop::Divide>("divide", divide);
  EXPECT_THROW(app.handle<shop::SentOnly>("divide", [](const shop::SentOnly&) {}),
               ConfigurationException);
}

TEST(OpenEngine, SaysWhichEnginesThereAreWhenItHasNotTheOneWanted) {
  try {
    static_cast<void>(open_engine(Dsn{"mysql://localhost/tasks"}));
    FAIL() << "must throw";
  } catch (const ConfigurationException& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("mysql"), HasSubstr("sqlite:")));
  }
  EXPECT_THROW(static_cast<void>(schema_script(Dsn{"mysql://localhost/tasks"})),
               ConfigurationException);
}

TEST(OpenEngine, OpensTheOneThatTheDsnNames) {
  const SqliteFile file;
  EXPECT_EQ(open_engine(file.dsn())->kind(), EngineKind::sqlite);
  EXPECT_THAT(schema_script(file.dsn()), HasSubstr("async_tasks"));
  EXPECT_EQ(schema_script(Dsn{"redis://host?record=compact&prefix=shop:"}),
            "SET shop:errand:record compact NX\nSET shop:errand:schema 2 NX\n");
}

}  // namespace
}  // namespace errand
