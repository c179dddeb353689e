#pragma once

#include <boost/json/value.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "errand/detail/json_path.hpp"
#include "errand/detail/json_types.hpp"
#include "errand/export.hpp"

namespace errand::detail {

// Each appends the JSON text of its value; ValidationException with the path for what JSON cannot
// hold.
ERRAND_EXPORT void write_signed(std::string& out, std::int64_t value);
ERRAND_EXPORT void write_unsigned(std::string& out, std::uint64_t value);
ERRAND_EXPORT void write_double(std::string& out, double value, const JsonPath& path);
ERRAND_EXPORT void write_string(std::string& out, std::string_view value, const JsonPath& path);
ERRAND_EXPORT void write_value(std::string& out, const boost::json::value& value,
                               const JsonPath& path);

/// Throws ValidationException where a document is deeper than one that can be read again.
ERRAND_EXPORT void check_depth(const JsonPath& path);

template <class T>
void write_json(std::string& out, const T& value, const JsonPath& path = {});

template <DescribedEnum T>
void write_enum(std::string& out, T value, const JsonPath& path) {
  const char* name = nullptr;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
    if (enumerator.value == value) name = enumerator.name;
  });
  if (name == nullptr) refuse_json(path, "the enum has no name for this value");
  write_string(out, name, path);
}

/// Members that are empty optionals are left out.
template <DescribedStruct T>
void write_struct(std::string& out, const T& value, const JsonPath& path) {
  check_depth(path);
  char separator = '{';
  boost::mp11::mp_for_each<MembersOf<T>>([&](auto descriptor) {
    const auto& member = value.*descriptor.pointer;
    if constexpr (IsOptional<std::remove_cvref_t<decltype(member)>>::value) {
      if (!member) return;
    }
    out.push_back(separator);
    separator = ',';
    out.append("\"").append(descriptor.name).append("\":");
    write_json(out, member, JsonPath{path, descriptor.name});
  });
  out.append(separator == '{' ? "{}" : "}");
}

template <class T>
void write_json(std::string& out, const T& value, const JsonPath& path) {
  if constexpr (std::is_same_v<T, boost::json::value>) {
    write_value(out, value, path);
  } else if constexpr (std::is_same_v<T, bool>) {
    out.append(value ? "true" : "false");
  } else if constexpr (JsonInteger<T> && std::is_signed_v<T>) {
    write_signed(out, value);
  } else if constexpr (JsonInteger<T>) {
    write_unsigned(out, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    write_double(out, static_cast<double>(value), path);
  } else if constexpr (std::is_same_v<T, std::string>) {
    write_string(out, value, path);
  } else if constexpr (IsOptional<T>::value) {
    if (value) {
      write_json(out, *value, path);
    } else {
      out.append("null");
    }
  } else if constexpr (IsVector<T>::value) {
    check_depth(path);
    out.push_back('[');
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out.push_back(',');
      write_json<typename T::value_type>(out, value[i], JsonPath{path, i});
    }
    out.push_back(']');
  } else if constexpr (IsStringMap<T>::value) {
    check_depth(path);
    char separator = '{';
    for (const auto& [name, element] : value) {
      out.push_back(separator);
      separator = ',';
      const JsonPath element_path{path, name};
      write_string(out, name, element_path);
      out.push_back(':');
      write_json(out, element, element_path);
    }
    out.append(separator == '{' ? "{}" : "}");
  } else if constexpr (DescribedEnum<T>) {
    write_enum(out, value, path);
  } else if constexpr (DescribedStruct<T>) {
    write_struct(out, value, path);
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
