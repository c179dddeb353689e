# errand_library(NAME SOURCES…): one layer. Warnings and hidden symbols stay inside our build;
# users get the include folder and C++20, nothing else.

function(errand_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
    # Users' stack traces show these paths: where the sources lay is nobody's business.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
    $<$<BOOL:${ERRAND_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()

function(errand_library name)
  add_library(errand_${name} ${ARGN})
  add_library(errand::${name} ALIAS errand_${name})
  errand_compile_options(errand_${name})
  target_include_directories(errand_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(errand_${name} PROPERTIES
    EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY ERRAND_LIBRARIES errand_${name})
endfunction()

# errand_program(NAME SOURCES…): an executable of ours.
function(errand_program name)
  add_executable(${name} ${ARGN})
  errand_compile_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()
