#include "http/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/errors.hpp"

namespace errand::http {
namespace {

template <class E>
Response response_to(E error) {
  return problem_response(std::make_exception_ptr(std::move(error)));
}

TEST(Problem, SaysWhatIsWrongAndWhere) {
  const Response response =
      Problem{422, "no \"type\""}.named("bad-task").at_pointer("/type").at_line(3).response();
  EXPECT_EQ(response.status, 422U);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"urn:errand:bad-task","title":"Unprocessable Content","status":422,)"
            R"("detail":"no \"type\"","pointer":"/type","line":3})");
}

TEST(Problem, ErrandsExceptionsHaveTheirStatus) {
  const TaskId id = TaskId::generate();
  using Retry = StorageException::Retry;
  EXPECT_EQ(response_to(TaskNotFoundException{id}).status, 404U);
  EXPECT_EQ(response_to(TaskExpiredException{id}).status, 410U);
  EXPECT_EQ(response_to(ValidationException{"x"}).status, 422U);
  EXPECT_EQ(response_to(ConcurrentModificationException{"x"}).status, 409U);
  EXPECT_EQ(response_to(StorageException{"x", Retry::helps}).status, 503U);
  EXPECT_THAT(response_to(StorageException{"x", Retry::in_doubt}).body,
              ::testing::HasSubstr("storage-in-doubt"));
}

TEST(Problem, MistakesOfOursTellNothingOfTheInside) {
  const Response response = response_to(std::runtime_error{"secret"});
  EXPECT_EQ(response.status, 500U);
  EXPECT_THAT(response.body, ::testing::Not(::testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace errand::http
