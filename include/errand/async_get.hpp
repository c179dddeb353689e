#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "errand/future.hpp"

/// Apart from future.hpp because Asio takes the compiler longer than all the rest.
namespace errand {

template <class T>
template <class CompletionToken>
auto TaskFuture<T>::async_get(CompletionToken&& token) const {
  namespace asio = boost::asio;
  using Signature = std::conditional_t<std::is_void_v<T>, void(std::exception_ptr),
                                       void(std::exception_ptr, detail::ValueOf<T>)>;
  return asio::async_initiate<CompletionToken, Signature>(
      [future = *this](auto handler) {
        const auto executor = asio::get_associated_executor(handler);
        auto slot = asio::get_associated_cancellation_slot(handler);
        // Shared because callbacks are copyable and handlers need not be.
        const auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        const auto finish = [shared, slot, work = asio::make_work_guard(executor)](
                                std::exception_ptr error, std::string json) {
          asio::post(work.get_executor(), [shared, slot, error, json = std::move(json)]() mutable {
            if (slot.is_connected()) slot.clear();
            complete(std::move(*shared), error, json);
          });
        };
        const auto ticket = std::make_shared<Ticket>();
        if (slot.is_connected()) {
          slot.assign([future, ticket, finish](asio::cancellation_type) {
            if (!future.forget(*ticket)) return;  // too late: the result is on its way
            finish(std::make_exception_ptr(
                       boost::system::system_error{asio::error::operation_aborted}),
                   {});
          });
        }
        *ticket = future.when_final(finish);
      },
      token);
}

template <class T>
template <class Handler>
void TaskFuture<T>::complete(Handler handler, std::exception_ptr error, const std::string& json) {
  if constexpr (std::is_void_v<T>) {
    std::move(handler)(error);
  } else {
    T value{};
    if (!error) {
      try {
        value = decode<T>(json);
      } catch (...) {
        error = std::current_exception();
      }
    }
    std::move(handler)(error, std::move(value));
  }
}

}  // namespace errand
