#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "errand/errors.hpp"

#include "engine/redis/command.hpp"

namespace errand::redis {

/// What one command takes. The server does nothing else while a script runs, and takes no command
/// of a million words.
struct MostOfAPart {
  std::size_t items;
  std::size_t bytes;
};

/// Puts what the items make of arguments into as few commands as may be. `add(Command&, item)`;
/// `run(Command&)` or `run(Command&, items of that part)`, in the order of the items.
template <class Item, class Add, class Run>
void in_parts(std::span<const Item> items, MostOfAPart most, Add&& add, Run&& run) {
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin;
    Command arguments;
    while (end < items.size() && end - begin < most.items && arguments.bytes() < most.bytes) {
      add(arguments, items[end++]);
    }
    try {
      if constexpr (std::is_invocable_v<Run, Command&>) {
        run(arguments);
      } else {
        run(arguments, items.subspan(begin, end - begin));
      }
    } catch (const StorageException& error) {
      if (begin == 0) throw;
      throw StorageException{error.what(), StorageException::Retry::in_doubt};
    }
    begin = end;
  }
}

}  // namespace errand::redis
