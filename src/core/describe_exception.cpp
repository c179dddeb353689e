#include <cxxabi.h>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "errand/exception_data.hpp"

#include "core/exception_limits.hpp"
#include "core/utf8.hpp"

namespace errand {
namespace {

std::string clean_message(const char* text) {
  if (text == nullptr) return {};
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
  data.message = detail::repair_and_cut_utf8(message, detail::kMaxExceptionText);
  return data;
}

ExceptionData describe_std_exception(const std::exception& error) {
  ExceptionData data;
  data.class_name = readable_type_name(typeid(error));
  data.message = clean_message(error.what());
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    data.code = system->code().value();
  }
  return data;
}

ExceptionData describe_other() {
  return describe_value("an object of type " + current_type_name() +
                        ", which is not a std::exception, was thrown");
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
  } catch (short value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (unsigned short value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (int value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (unsigned value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (long value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (unsigned long value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (long long value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (unsigned long long value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (float value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (double value) {
    return {describe_value(std::to_string(value)), nullptr};
  } catch (...) {
    return {describe_other(), nullptr};
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
