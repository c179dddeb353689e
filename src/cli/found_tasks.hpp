#pragma once

#include "app/found_tasks.hpp"

namespace errand::cli {

using detail::change_found;
using detail::ChangeOfFound;
using detail::for_each_found;

}  // namespace errand::cli
