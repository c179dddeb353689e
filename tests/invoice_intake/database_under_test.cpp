#include "invoice_intake/database_under_test.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdexcept>

namespace errand::invoices {

std::string SqliteUnderTest::execute(const std::string& sql) const {
  sqlite3* db = nullptr;
  sqlite3_open((directory_ / "invoices.db").c_str(), &db);
  sqlite3_busy_timeout(db, 30'000);
  std::string value;
  char* error = nullptr;
  const int code = sqlite3_exec(
      db, ("PRAGMA foreign_keys = ON;" + sql).c_str(),
      [](void* first, int, char** values, char**) {
        auto& text = *static_cast<std::string*>(first);
        if (text.empty() && values[0] != nullptr) text = values[0];
        return 0;
      },
      &value, &error);
  const std::string message = error != nullptr ? error : "";
  sqlite3_free(error);
  sqlite3_close(db);
  if (code != SQLITE_OK) throw std::runtime_error{message};
  return value;
}

}  // namespace errand::invoices
