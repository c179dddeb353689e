#pragma once

#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// Which C++ types have a JSON form; see codec.hpp.
namespace errand::detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsVector : std::false_type {};
template <class T, class Allocator>
struct IsVector<std::vector<T, Allocator>> : std::true_type {};

template <class T>
struct IsStringMap : std::false_type {};
template <class T, class Compare, class Allocator>
struct IsStringMap<std::map<std::string, T, Compare, Allocator>> : std::true_type {};

/// Characters are integers to the language, but not to people.
template <class T>
concept JsonInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

template <class T>
concept DescribedStruct =
    std::is_class_v<T> && boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;

/// Those of its bases included.
template <DescribedStruct T>
using MembersOf = boost::describe::describe_members<T, boost::describe::mod_public |
                                                           boost::describe::mod_inherited>;

/// Never true: lets a static_assert wait for its template argument.
template <class>
inline constexpr bool kNoJsonForm = false;

}  // namespace errand::detail
