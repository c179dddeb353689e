#include "http/dashboard.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <openssl/sha.h>
#include <utility>

#include "http/embedded_files.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

std::string_view content_type_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kTypes{{
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
  }};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

/// Made from the bytes: a browser asks again after an upgrade, and only then.
const std::string& tag_of(const EmbeddedFile& file) {
  static const std::map<std::string_view, std::string> tags = [] {
    std::map<std::string_view, std::string> made;
    for (const EmbeddedFile& each : embedded_files()) {
      std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
      SHA256(reinterpret_cast<const unsigned char*>(each.bytes.data()), each.bytes.size(),
             digest.data());
      made[each.name] =
          fmt::format("\"{:02x}\"", fmt::join(digest.begin(), digest.begin() + 8, ""));
    }
    return made;
  }();
  return tags.at(file.name);
}

const EmbeddedFile* file_at(const Target& target) {
  std::string name;
  for (const std::string& segment : target.segments) {
    if (!name.empty()) name += '/';
    name += segment;
  }
  if (const EmbeddedFile* file = find_embedded(name)) return file;
  return target.segments.back().find('.') == std::string::npos ? find_embedded("index.html")
                                                               : nullptr;
}

/// Whether web/app.js has a view for the address. A test compares.
bool is_page(const Target& target) {
  static constexpr std::array<std::string_view, 7> kPages{
      "index.html", "", "tasks", "failed", "queues", "workers", "submit"};
  const std::vector<std::string>& path = target.segments;
  if (path.size() == 2) return path[0] == "tasks" && !path[1].empty();
  return path.size() == 1 && std::ranges::find(kPages, path[0]) != kPages.end();
}

}  // namespace

Response dashboard_file(const Request& request) {
  const EmbeddedFile* file = file_at(request.target);
  if (file == nullptr) throw Problem{404, "there is no such file"};
  const std::string& tag = tag_of(*file);
  Response response;
  if (file->name == "index.html" && !is_page(request.target)) {
    // The page says so to people, the status to programs that mistyped an address.
    response.status = 404;
    response.content_type = content_type_of(file->name);
    response.embedded = file->bytes;
    return response;
  }
  response.cache_control = "no-cache";
  response.headers.emplace_back("ETag", tag);
  response.content_type = content_type_of(file->name);
  if (request.headers.if_none_match == tag) {
    response.status = 304;
    return response;
  }
  response.embedded = file->bytes;
  return response;
}

}  // namespace errand::http
