#pragma once

#include <span>
#include <string_view>

/// The dashboard's files and openapi.json, part of the program. embedded_files.cpp is made by
/// CMake.
namespace errand::http {

struct EmbeddedFile {
  std::string_view name;  ///< below web/: assets/app.js
  std::string_view bytes;
};

[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

/// Null: there is none.
[[nodiscard]] const EmbeddedFile* find_embedded(std::string_view name);

}  // namespace errand::http
