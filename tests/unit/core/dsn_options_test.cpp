#include "core/dsn_options.hpp"

#include <gtest/gtest.h>

namespace errand::detail {
namespace {

TEST(DsnOptions, AnOptionIsSetInTheCopyOnly) {
  const Dsn dsn{"postgresql://u:p%40ss@h/d?queue_name=async&sslmode=require"};
  const Dsn changed = with_option(dsn, "queue_name", "failed");
  EXPECT_EQ(changed.secret_text(), "postgresql://u:p%40ss@h/d?sslmode=require&queue_name=failed");
  EXPECT_EQ(dsn.option("queue_name"), "async");
}

TEST(DsnOptions, AnOptionIsAddedWhereThereWasNone) {
  EXPECT_EQ(with_option(Dsn{"sqlite:app.db"}, "queue_name", "failed").secret_text(),
            "sqlite:app.db?queue_name=failed");
}

TEST(DsnOptions, TheValueMayBeAnything) {
  const std::string value = "a&b=c d%/ü";
  EXPECT_EQ(with_option(Dsn{"sqlite:app.db"}, "queue_name", value).option("queue_name"), value);
}

}  // namespace
}  // namespace errand::detail
