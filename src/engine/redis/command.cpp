#include "engine/redis/command.hpp"

namespace errand::redis {

Command& Command::add(std::string_view argument) {
  ++count_;
  arguments_ += '$';
  arguments_ += std::to_string(argument.size());
  arguments_ += "\r\n";
  arguments_ += argument;
  arguments_ += "\r\n";
  return *this;
}

Command& Command::add(const Command& more) {
  count_ += more.count_;
  arguments_ += more.arguments_;
  return *this;
}

}  // namespace errand::redis
