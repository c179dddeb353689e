// Submit a typed message, run it in a worker, get the typed result.
#include <errand/errand.hpp>
#include <iostream>

struct SendEmail {
  std::string to, subject;
};
BOOST_DESCRIBE_STRUCT(SendEmail, (), (to, subject))

struct Receipt {
  bool sent = false;
  int attempt = 0;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (sent, attempt))

int main() {
  using namespace std::chrono_literals;
  errand::Application app{errand::Dsn{"sqlite:quick_start.db"}};
  app.handle<SendEmail>("email.send", [](const SendEmail& mail, errand::TaskContext& context) {
    if (mail.to.empty()) throw errand::Unrecoverable{"nobody to send to"};
    return Receipt{.sent = true, .attempt = context.attempt()};
  });

  const errand::BackgroundWorker worker{app};  // or a process of its own, on this file

  errand::TaskFuture<Receipt> future = app.tasks().submit(SendEmail{"a@b.c", "hello"});
  std::cout << "sent: " << std::boolalpha << future.get(5s).sent << '\n';

  errand::TaskFuture<Receipt> broken = app.tasks().submit(SendEmail{"", "hello?"});
  try {
    broken.get(5s);
  } catch (const errand::TaskFailedException& error) {
    std::cout << "failed: " << error.data().message << '\n';
  }
}
