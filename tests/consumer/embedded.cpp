#include <errand/sqlite.hpp>
#include <errand/tasks.hpp>

int main() {
  const auto engine = errand::open_sqlite(errand::Dsn{"sqlite:embedded.db"});
  const errand::MessageTypes messages;
  const errand::ExceptionTypes exceptions;
  errand::Tasks tasks{*engine, messages, exceptions};
  const errand::TaskHandle task = tasks.submit_json("nobody.listens", "{}");
  return task.status() == errand::TaskStatus::pending ? 0 : 1;
}
