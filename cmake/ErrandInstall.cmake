# `make install` puts the headers, the libraries, the programs and the CMake package in place, so
# that find_package(errand) works; tests/consumer proves it.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY ERRAND_LIBRARIES)
install(TARGETS ${libraries} EXPORT errand-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/errand DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS errand_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/errand)
install(EXPORT errand-targets NAMESPACE errand:: DESTINATION ${package_dir})
configure_package_config_file(cmake/errand-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/errand-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/errand-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/errand-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/errand-config-version.cmake
              cmake/Findhiredis.cmake
  DESTINATION ${package_dir})
