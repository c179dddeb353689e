// Handles messages that a Symfony application sends.
#include <errand/errand.hpp>
#include <fstream>

struct Sms {
  std::string to;
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Sms, (), (to, n))

int main(int argc, char** argv) {
  errand::Handlers handlers;
  handlers.add<Sms>("sms.send", [](const Sms& sms) {
    if (sms.to.empty()) throw errand::Unrecoverable{"nobody to send it to"};
    std::ofstream{"sent.txt", std::ios::app} << sms.n << ' ' << sms.to << '\n';
  });
  return errand::run_worker(handlers, argc, argv);
}
