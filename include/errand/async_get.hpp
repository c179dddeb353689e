#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "errand/future.hpp"

namespace errand {

template <class T>
template <class CompletionToken>
auto TaskFuture<T>::async_get(CompletionToken&& token) const {
  using Signature = std::conditional_t<std::is_void_v<T>, void(std::exception_ptr),
                                       void(std::exception_ptr, detail::ValueOf<T>)>;
  return boost::asio::async_initiate<CompletionToken, Signature>(
      [future = *this](auto handler) {
        const auto executor = boost::asio::get_associated_executor(handler);
        // Shared because callbacks are copyable and handlers need not be.
        const auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        future.when_final([shared, work = boost::asio::make_work_guard(executor)](
                              std::exception_ptr error, std::string json) {
          if constexpr (std::is_void_v<T>) {
            boost::asio::post(work.get_executor(), [shared, error] { std::move (*shared)(error); });
          } else {
            T value{};
            if (!error) {
              try {
                value = decode<T>(json);
              } catch (...) {
                error = std::current_exception();
              }
            }
            boost::asio::post(work.get_executor(),
                              [shared, error, value = std::move(value)]() mutable {
                                std::move (*shared)(error, std::move(value));
                              });
          }
        });
      },
      token);
}

}  // namespace errand
