#include <errand/errand.hpp>
#include <iostream>

struct Add {
  using Result = int;
  int a = 0;
  int b = 0;
};
BOOST_DESCRIBE_STRUCT(Add, (), (a, b))

int main() {
  errand::Application app{errand::Dsn{"sqlite:shop.db"}};
  app.handle<Add>("math.add", [](const Add& message) { return message.a + message.b; });
  const errand::BackgroundWorker worker{app};
  const int sum = app.tasks().submit(Add{40, 2}).get(std::chrono::seconds{30});
  std::cout << sum << '\n';
  return sum == 42 ? 0 : 1;
}
