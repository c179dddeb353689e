#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace errand::http {

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body{};

  /// In place of `body`, for what lives as long as the program.
  std::string_view embedded{};

  std::vector<std::pair<std::string, std::string>> headers{};
  std::string_view cache_control = "no-store";

  [[nodiscard]] static Response json(std::string text, unsigned status = 200) {
    Response response;
    response.status = status;
    response.body = std::move(text);
    return response;
  }

  [[nodiscard]] static Response empty(unsigned status) {
    Response response;
    response.status = status;
    response.content_type.clear();
    return response;
  }
};

}  // namespace errand::http
