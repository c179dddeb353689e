#pragma once

/// Durable background tasks with futures: everything a program needs, but for
/// TaskFuture::async_get() (errand/async_get.hpp), which brings Asio along.

#include <boost/describe.hpp>

#include "errand/application.hpp"
#include "errand/codec.hpp"
#include "errand/dsn.hpp"
#include "errand/errors.hpp"
#include "errand/future.hpp"
#include "errand/handler.hpp"
#include "errand/tasks.hpp"
#include "errand/worker.hpp"
