#include "invoice_intake/commands/program.hpp"
#include "terminal/program.hpp"

int main(int argc, char** argv) {
  return errand::terminal::run_on_standard_streams(errand::invoices::run, argc, argv);
}
