# errand_embed_files(TARGET ROOT FILES…): files of any kind, below ROOT or alone, become part of
# TARGET, which has http/embedded_files.hpp to find them. The assembler reads them: a compiler would
# take its time over arrays of that size.
function(errand_embed_files target root)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp)
  set(assembly "")
  set(declarations "")
  set(entries "")
  set(number 0)
  foreach(file IN LISTS ARGN)
    cmake_path(IS_PREFIX root ${file} is_below)
    if(is_below)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${root} OUTPUT_VARIABLE name)
    else()
      cmake_path(GET file FILENAME name)
    endif()
    set(symbol errand_embedded_${number})
    # The zero byte lets an empty file have an address.
    string(APPEND assembly
      "asm(\".section .rodata\\n\"\n"
      "    \"${symbol}_begin:\\n\"\n"
      "    \".incbin \\\"${file}\\\"\\n\"\n"
      "    \"${symbol}_end: .byte 0\\n\"\n"
      "    \".previous\\n\");\n")
    string(APPEND declarations "extern const char ${symbol}_begin[];\nextern const char ${symbol}_end[];\n")
    string(APPEND entries
      "    EmbeddedFile{\"${name}\", {${symbol}_begin, static_cast<std::size_t>(${symbol}_end - ${symbol}_begin)}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Made by cmake/ErrandEmbedFiles.cmake.
#include \"http/embedded_files.hpp\"

#include <cstddef>
#include <vector>

${assembly}
extern \"C\" {
${declarations}}

namespace errand::http {

std::span<const EmbeddedFile> embedded_files() {
  static const std::vector<EmbeddedFile> files{
${entries}  };
  return files;
}

const EmbeddedFile* find_embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

}  // namespace errand::http
")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${source})
endfunction()
