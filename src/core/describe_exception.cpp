#include <charconv>
#include <cxxabi.h>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "errand/exception_data.hpp"

#include "core/exception_limits.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace {

std::string clean(std::string_view text) {
  return detail::repair_and_cut_utf8(text, detail::kMaxExceptionText);
}

/// Only inside a catch block. Null for exceptions of other languages.
std::string current_type_name() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type == nullptr ? "unknown" : readable_type_name(*type);
}

ExceptionData describe_value(std::string_view message) {
  ExceptionData data;
  data.class_name = current_type_name();
  data.message = clean(message);
  return data;
}

ExceptionData describe_std_exception(const std::exception& error) {
  ExceptionData data;
  data.class_name = readable_type_name(typeid(error));
  const char* message = error.what();
  data.message = clean(message == nullptr ? "" : message);
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    data.code = system->code().value();
  }
  return data;
}

ExceptionData describe_other() {
  return describe_value("an object of type " + current_type_name() +
                        ", which is not a std::exception, was thrown");
}

template <class Number>
std::string number_text(Number number) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), number).ptr;
  return std::string{text, end};
}

/// If one of these was thrown, describes it.
template <class... Numbers>
std::optional<ExceptionData> describe_number(const std::exception_ptr& error) {
  std::optional<ExceptionData> data;
  const auto try_one = [&]<class Number>(std::type_identity<Number>) {
    if (data) return;
    try {
      std::rethrow_exception(error);
    } catch (Number number) {
      data = describe_value(number_text(number));
    } catch (...) {
      return;
    }
  };
  (try_one(std::type_identity<Numbers>{}), ...);
  return data;
}

struct Level {
  ExceptionData data;
  std::exception_ptr nested;  ///< what the exception was thrown because of, or null
};

Level describe_one(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    const auto* nested = dynamic_cast<const std::nested_exception*>(&e);
    return {describe_std_exception(e), nested == nullptr ? nullptr : nested->nested_ptr()};
  } catch (const std::nested_exception& nested) {
    return {describe_other(), nested.nested_ptr()};
  } catch (const std::string& text) {
    return {describe_value(text), nullptr};
  } catch (std::string_view text) {
    return {describe_value(text), nullptr};
  } catch (const char* text) {
    return {describe_value(text == nullptr ? "" : text), nullptr};
  } catch (bool value) {
    return {describe_value(value ? "true" : "false"), nullptr};
  } catch (char value) {
    return {describe_value(std::string_view{&value, 1}), nullptr};
  } catch (...) {
    std::optional<ExceptionData> number =
        describe_number<int, unsigned, long, unsigned long, long long, unsigned long long, short,
                        unsigned short, double, float>(error);
    return {number ? std::move(*number) : describe_other(), nullptr};
  }
}

ExceptionData describe(const std::exception_ptr& error, int levels_left) {
  Level level = describe_one(error);
  if (level.nested != nullptr && levels_left > 0) {
    level.data.previous =
        std::make_shared<const ExceptionData>(describe(level.nested, levels_left - 1));
  }
  return std::move(level.data);
}

}  // namespace

ExceptionData describe_exception(const std::exception_ptr& error) {
  return describe(error, kMaxPreviousExceptions);
}

}  // namespace errand
