# prometheus-cpp 1.0, Debian's: its own package wants the libraries of its HTTP server and pusher,
# too, which are not used here. Gives PrometheusCore::PrometheusCore.
find_path(PrometheusCore_INCLUDE_DIR prometheus/registry.h)
find_library(PrometheusCore_LIBRARY prometheus-cpp-core)
mark_as_advanced(PrometheusCore_INCLUDE_DIR PrometheusCore_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PrometheusCore
  REQUIRED_VARS PrometheusCore_LIBRARY PrometheusCore_INCLUDE_DIR)
if(PrometheusCore_FOUND AND NOT TARGET PrometheusCore::PrometheusCore)
  add_library(PrometheusCore::PrometheusCore UNKNOWN IMPORTED)
  set_target_properties(PrometheusCore::PrometheusCore PROPERTIES
    IMPORTED_LOCATION ${PrometheusCore_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PrometheusCore_INCLUDE_DIR})
endif()
