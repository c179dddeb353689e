#pragma once

#include <string>

/// Why a file cannot be used, said before SQLite says less: it has one error for all of it.
namespace errand::sqlite {

/// Beside the database, found by whatever name the database is opened.
[[nodiscard]] std::string wake_path(const std::string& database);

/// Throws StorageException that names the file or directory at fault and what would mend it.
void require_usable(const std::string& database);

/// Throws StorageException unless the file is there and holds Errand's tables. Changes nothing: a
/// program that only looks must leave a file that is not ours as it is.
void require_tables(const std::string& database);

}  // namespace errand::sqlite
