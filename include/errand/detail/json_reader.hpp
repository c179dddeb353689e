#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "errand/detail/json_path.hpp"
#include "errand/detail/json_types.hpp"
#include "errand/export.hpp"

namespace errand::detail {

// Each throws ValidationException with the path unless the value is what its name says.
[[nodiscard]] ERRAND_EXPORT bool read_bool(const boost::json::value& value, const JsonPath& path);
[[nodiscard]] ERRAND_EXPORT std::int64_t read_signed(const boost::json::value& value,
                                                     const JsonPath& path, std::int64_t min,
                                                     std::int64_t max);
[[nodiscard]] ERRAND_EXPORT std::uint64_t read_unsigned(const boost::json::value& value,
                                                        const JsonPath& path, std::uint64_t max);
[[nodiscard]] ERRAND_EXPORT double read_double(const boost::json::value& value,
                                               const JsonPath& path, double max);
[[nodiscard]] ERRAND_EXPORT const boost::json::string& read_string(const boost::json::value& value,
                                                                   const JsonPath& path);
[[nodiscard]] ERRAND_EXPORT const boost::json::array& read_array(const boost::json::value& value,
                                                                 const JsonPath& path);
[[nodiscard]] ERRAND_EXPORT const boost::json::object& read_object(const boost::json::value& value,
                                                                   const JsonPath& path);

template <class T>
[[nodiscard]] T read_json(const boost::json::value& value, const JsonPath& path = {});

template <DescribedEnum T>
[[nodiscard]] T read_enum(const boost::json::value& value, const JsonPath& path) {
  const std::string_view word = read_string(value, path);
  T result{};
  bool found = false;
  std::string words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
    if (word == enumerator.name) {
      result = enumerator.value;
      found = true;
    }
    words.append(words.empty() ? "" : ", ").append(enumerator.name);
  });
  if (!found) refuse_json(path, "expected one of " + words + ", got another word");
  return result;
}

template <DescribedStruct T>
[[nodiscard]] T read_struct(const boost::json::value& value, const JsonPath& path) {
  static_assert(std::is_default_constructible_v<T>,
                "a struct that is read from JSON needs a default constructor");
  const boost::json::object& object = read_object(value, path);
  T result{};
  boost::mp11::mp_for_each<MembersOf<T>>([&](auto descriptor) {
    auto& member = result.*descriptor.pointer;
    using Member = std::remove_reference_t<decltype(member)>;
    const JsonPath member_path{path, descriptor.name};
    if (const boost::json::value* found = object.if_contains(descriptor.name)) {
      member = read_json<Member>(*found, member_path);
    } else if constexpr (!IsOptional<Member>::value) {
      refuse_json(member_path, "is missing");
    }
  });
  return result;
}

template <class T>
T read_json(const boost::json::value& value, const JsonPath& path) {
  if constexpr (std::is_same_v<T, boost::json::value>) {
    // The copy must not live in the memory of the document, which ends with the reading.
    return boost::json::value(value, boost::json::storage_ptr{});
  } else if constexpr (std::is_same_v<T, bool>) {
    return read_bool(value, path);
  } else if constexpr (JsonInteger<T> && std::is_signed_v<T>) {
    using Range = std::numeric_limits<T>;
    return static_cast<T>(read_signed(value, path, Range::min(), Range::max()));
  } else if constexpr (JsonInteger<T>) {
    return static_cast<T>(read_unsigned(value, path, std::numeric_limits<T>::max()));
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr bool kNarrow = sizeof(T) < sizeof(double);
    return static_cast<T>(read_double(value, path,
                                      kNarrow ? static_cast<double>(std::numeric_limits<T>::max())
                                              : std::numeric_limits<double>::max()));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string{std::string_view{read_string(value, path)}};
  } else if constexpr (IsOptional<T>::value) {
    if (value.is_null()) return std::nullopt;
    return read_json<typename T::value_type>(value, path);
  } else if constexpr (IsVector<T>::value) {
    const boost::json::array& array = read_array(value, path);
    T result;
    result.reserve(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) {
      result.push_back(read_json<typename T::value_type>(array[i], JsonPath{path, i}));
    }
    return result;
  } else if constexpr (IsStringMap<T>::value) {
    T result;
    for (const auto& member : read_object(value, path)) {
      result.insert_or_assign(
          std::string{std::string_view{member.key()}},
          read_json<typename T::mapped_type>(member.value(), JsonPath{path, member.key()}));
    }
    return result;
  } else if constexpr (DescribedEnum<T>) {
    return read_enum<T>(value, path);
  } else if constexpr (DescribedStruct<T>) {
    return read_struct<T>(value, path);
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(kNoJsonForm<T>, "describe the enum with BOOST_DESCRIBE_ENUM(Enum, values...)");
  } else {
    static_assert(kNoJsonForm<T>,
                  "this type has no JSON form: describe the struct with "
                  "BOOST_DESCRIBE_STRUCT(Struct, (), (members...)); errand/codec.hpp lists the "
                  "other types");
  }
}

}  // namespace errand::detail
