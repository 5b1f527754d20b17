# Headers of the frameworks that backends are compiled against. Libraries are opened at run time.
#   VERNIER_ONNXRUNTIME_INCLUDE_DIR   folder of onnxruntime_c_api.h
#   VERNIER_OPENVINO_INCLUDE_DIR      folder of openvino/c/openvino.h
set(deps ${PROJECT_SOURCE_DIR}/.deps)
file(GLOB deps_site_packages ${deps}/runtimes/lib/python3*/site-packages)
list(TRANSFORM deps_site_packages APPEND /openvino/include OUTPUT_VARIABLE openvino_wheels)

find_path(VERNIER_ONNXRUNTIME_INCLUDE_DIR onnxruntime_c_api.h
  HINTS $ENV{ONNXRUNTIME_ROOT} ${deps}/onnxruntime-headers
  PATH_SUFFIXES include include/onnxruntime usr/include/onnxruntime onnxruntime
    include/onnxruntime/core/session)
find_path(VERNIER_OPENVINO_INCLUDE_DIR openvino/c/openvino.h
  HINTS $ENV{OPENVINO_ROOT} ${openvino_wheels}
  PATH_SUFFIXES include runtime/include)

set(VERNIER_ENABLED_BACKENDS identity)
foreach(backend ONNXRUNTIME OPENVINO)
  string(TOLOWER ${backend} name)
  if(VERNIER_BACKEND_${backend} STREQUAL "OFF")
    continue()
  endif()
  if(VERNIER_${backend}_INCLUDE_DIR)
    list(APPEND VERNIER_ENABLED_BACKENDS ${name})
  elseif(VERNIER_BACKEND_${backend} STREQUAL "ON")
    message(FATAL_ERROR "headers of ${name} were not found: run scripts/setup.sh, or set "
      "VERNIER_${backend}_INCLUDE_DIR")
  else()
    message(STATUS "backend ${name}: off, its headers were not found (scripts/setup.sh fetches them)")
  endif()
endforeach()
