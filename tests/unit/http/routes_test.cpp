#include "http/routes.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "http/embedded_files.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

std::string method_name(Method method) {
  switch (method) {
    case Method::get:
      return "get";
    case Method::post:
      return "post";
    case Method::delete_:
      return "delete";
    default:
      return "?";
  }
}

std::string role_name(Role role) {
  return role == Role::none ? "anyone" : std::string{to_string(role)};
}

TEST(OpenApi, DescribesEveryRouteWithItsRoleAndNoOther) {
  std::set<std::string> served;
  for (const Route& route : routes()) {
    served.insert(method_name(route.method) + " " + std::string{route.path} + " " +
                  role_name(route.role));
  }
  std::set<std::string> described;
  const json::value document = json::parse(find_embedded("openapi.json")->bytes);
  for (const auto& path : document.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      described.insert(std::string{operation.key()} + " " + std::string{path.key()} + " " +
                       std::string{operation.value().at("x-errand-role").as_string()});
    }
  }
  EXPECT_EQ(served, described);
}

const Route* route_to(Method method, std::string_view target) {
  return match(method, parse_target(target)).route;
}

TEST(Routes, WordsWinOverNames) {
  EXPECT_EQ(route_to(Method::get, "/api/failed/groups")->path, "/api/failed/groups");
  EXPECT_EQ(route_to(Method::get, "/api/failed/x")->path, "/api/failed/{id}");
  EXPECT_EQ(route_to(Method::head, "/api/tasks")->path, "/api/tasks");
}

TEST(Routes, NamesHaveValues) {
  const Match found = match(Method::post, parse_target("/api/queues/a%2Fb/pause"));
  EXPECT_THAT(found.parts, ::testing::ElementsAre("a/b"));
}

TEST(Routes, OtherAddressesAreFilesOrNothing) {
  EXPECT_EQ(route_to(Method::get, "/"), nullptr);
  EXPECT_EQ(route_to(Method::get, "/app.js"), nullptr);
  for (const char* target :
       {"/api", "/api/", "/api/tasks/", "/api/tasks/x/y", "/api/tasks//cancel"}) {
    EXPECT_THROW(static_cast<void>(route_to(Method::get, target)), Problem) << target;
  }
  EXPECT_THROW(static_cast<void>(route_to(Method::post, "/")), Problem);
  EXPECT_THROW(static_cast<void>(route_to(Method::other, "/api/tasks")), Problem);
}

}  // namespace
}  // namespace errand::http
