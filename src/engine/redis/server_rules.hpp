#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/redis/connection.hpp"

/// What the server says of itself, and whether that is good enough.
namespace errand::redis {

/// The lines of INFO by name.
using ServerInfo = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] ServerInfo server_info(Connection& connection);
[[nodiscard]] std::string info_text(const ServerInfo& info, std::string_view name);

/// nullopt: the server does not tell its settings to this user.
[[nodiscard]] std::optional<std::string> server_setting(Connection& connection,
                                                        const std::string& name);

/// Errand needs GETEX and PXAT.
inline constexpr const char* kOldestVersion = "6.2";
[[nodiscard]] bool is_supported_version(std::string_view version);

/// Throws StorageException for a server that is too old, part of a cluster, or no place for data.
void require_supported_server(Connection& connection);

/// How the server may lose a write that it has acknowledged, as far as its settings tell, and what
/// would mend all of it. Both are empty: in none of these ways. That a replica takes over without
/// the last writes cannot be seen here.
struct LossOfWrites {
  std::string ways;
  std::string remedy;
};
[[nodiscard]] LossOfWrites loss_of_writes(Connection& connection);

/// Throws StorageException that names them.
void require_durable_server(Connection& connection);

}  // namespace errand::redis
