#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>

#include "errand/errors.hpp"

#include "app/message_configuration.hpp"
#include "unit/docs/document.hpp"

namespace errand::testing {
namespace {

using Keys = std::set<std::string>;

/// Those in the first column of the table below that heading.
Keys documented_below(const std::string& heading) {
  std::istringstream lines{read_document("docs/configuration.md")};
  Keys keys;
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) below = line == "## " + heading;
    if (below && line.starts_with("| `")) keys.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

/// Those that the refusal of another one names.
Keys known_to_the_parser(const std::string& json) {
  try {
    static_cast<void>(detail::MessageConfiguration::parse(json, "errand.json"));
  } catch (const ConfigurationException& error) {
    std::string list = error.what();
    list.erase(0, list.find("there are ") + std::string{"there are "}.size());
    for (std::size_t at = list.find(" and "); at != std::string::npos; at = list.find(" and ")) {
      list.replace(at, 5, ", ");
    }
    Keys keys;
    std::istringstream words{list};
    for (std::string word; std::getline(words, word, ',');) {
      keys.insert(word.substr(word.find_first_not_of(' ')));
    }
    return keys;
  }
  return {};
}

TEST(ConfigurationPage, HasAllKeysThatTheParserKnowsAndNoOthers) {
  EXPECT_EQ(documented_below("The file"), known_to_the_parser(R"({"x":1})"));
  EXPECT_EQ(documented_below("A transport"),
            known_to_the_parser(R"({"transports":{"a":{"dsn":"sqlite:a.db","x":1}}})"));
  EXPECT_EQ(documented_below("How often"),
            known_to_the_parser(
                R"({"transports":{"a":{"dsn":"sqlite:a.db","retry_strategy":{"x":1}}}})"));
}

TEST(ConfigurationPage, ShowsAFileThatIsAccepted) {
  const std::string page = read_document("docs/configuration.md");
  const std::size_t begin = page.find("```json\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  const auto configuration = detail::MessageConfiguration::parse(example, "errand.json");
  EXPECT_EQ(configuration.transports.size(), 4U);
  EXPECT_EQ(configuration.transports.at("async").retry->jitter, 0.1);
}

}  // namespace
}  // namespace errand::testing
