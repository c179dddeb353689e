#include "engine/sqlite/file_checks.hpp"

#include <filesystem>
#include <system_error>
#include <unistd.h>

#include "errand/errors.hpp"

#include "core/schema_versions.hpp"
#include "engine/sqlite/connection.hpp"

namespace errand::sqlite {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& reason) {
  throw StorageException{reason, StorageException::Retry::useless};
}

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

/// For the user whose rights count, which need not be the one who started the program.
bool allowed(const fs::path& path, int rights) { return eaccess(path.c_str(), rights) == 0; }

}  // namespace

std::string wake_path(const std::string& database) {
  // SQLite follows symbolic links, and whoever comes by another name must find the same file.
  std::error_code unknown;
  const fs::path real = fs::weakly_canonical(database, unknown);
  return (unknown ? database : real.string()) + "-wake";
}

void require_usable(const std::string& database) {
  const fs::path parent = fs::absolute(database).parent_path();
  if (!is_there(parent)) {
    refuse("cannot open " + database + ": there is no directory " + parent.string() +
           "; create it, or check the DSN");
  }
  if (is_folder(database)) {
    refuse(database + " is a directory; name a file in the DSN");
  }
  if (is_there(database) && !allowed(database, R_OK | W_OK)) {
    refuse("this user may not read and write " + database +
           "; run as its owner, or change its owner or mode");
  }
  const std::string wake = wake_path(database);
  if (is_there(wake) && !allowed(wake, R_OK | W_OK)) {
    refuse("this user may not read and write " + wake + "; give it the owner and mode of " +
           database);
  }
  const bool all_there =
      is_there(wake) && is_there(database + "-wal") && is_there(database + "-shm");
  if (!all_there && !allowed(parent, W_OK | X_OK)) {
    refuse("this user may not create files in " + parent.string() +
           ", where SQLite keeps its log beside the database; make the directory writable");
  }
}

void require_tables(const std::string& database) {
  if (!is_there(database)) {
    refuse("there is no file " + database +
           "; check the DSN, or create it with `errand setup` or by submitting a task");
  }
  const Connection connection{{.path = database, .mode = Connection::Mode::look}};
  Statement table{connection.handle(),
                  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'errand_schema'"};
  if (!table.step()) throw detail::NoTables{database};
}

}  // namespace errand::sqlite
