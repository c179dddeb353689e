#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <string_view>

#include "errand/exception_data.hpp"

#include "core/demangle.hpp"

namespace errand {
namespace {

std::string demangle_as_it_is(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable{
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free};
  return readable ? std::string{readable.get()} : std::string{name};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// std::throw_with_nested and boost::throw_exception throw a class of their own that derives from
/// the one they were given: that one is what people know.
bool unwrap(std::string& name) {
  for (const std::string_view wrapper : {"std::_Nested_exception<", "boost::wrapexcept<"}) {
    if (!name.starts_with(wrapper) || !name.ends_with('>')) continue;
    name = name.substr(wrapper.size(), name.size() - wrapper.size() - 1);
    return true;
  }
  return false;
}

}  // namespace

std::string detail::demangle(const char* name) {
  std::string readable = demangle_as_it_is(name);
  replace_all(readable,
              "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  replace_all(readable, "std::__cxx11::", "std::");
  replace_all(readable, "[abi:cxx11]", "");
  replace_all(readable, " >", ">");
  return readable;
}

std::string readable_type_name(const std::type_info& type) {
  std::string name = detail::demangle(type.name());
  while (unwrap(name)) continue;
  return name;
}

}  // namespace errand
