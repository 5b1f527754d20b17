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

# TensorRT's interface is C++ vtables: a plug-in for each major version whose headers are found.
# TENSORRT_INCLUDE_DIR is a list of folders of NvInfer.h and NvOnnxParser.h. Of CUDA the headers name
# two pointers only, which a header of ours declares as well.
set(VERNIER_CUDA_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/backends/tensorrt/cuda_types CACHE PATH
  "Folder of the cuda_runtime_api.h that TensorRT's headers include")
option(VERNIER_TENSORRT_WERROR "Treat warnings of the TensorRT plug-ins as errors" OFF)
set(tensorrt_candidates ${TENSORRT_INCLUDE_DIR})
if(NOT tensorrt_candidates)
  file(GLOB fetched_tensorrt ${deps}/tensorrt-headers/*/include)
  set(tensorrt_candidates $ENV{TENSORRT_ROOT}/include ${fetched_tensorrt} /usr/include
    /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
set(VERNIER_TENSORRT_MAJORS)
foreach(folder ${tensorrt_candidates})
  if(NOT EXISTS ${folder}/NvInferVersion.h OR NOT EXISTS ${folder}/NvOnnxParser.h)
    continue()
  endif()
  file(STRINGS ${folder}/NvInferVersion.h line
    REGEX "^#define (NV_TENSORRT_MAJOR|TRT_MAJOR_ENTERPRISE) [0-9]+")
  string(REGEX MATCH "[0-9]+" major "${line}")
  if(major AND NOT major IN_LIST VERNIER_TENSORRT_MAJORS)
    list(APPEND VERNIER_TENSORRT_MAJORS ${major})
    set(VERNIER_TENSORRT_${major}_INCLUDE_DIR ${folder})
  endif()
endforeach()
if(VERNIER_TENSORRT_MAJORS)
  set(VERNIER_TENSORRT_INCLUDE_DIR found)
endif()

# Its C interface is declared by the plug-in itself. Tests need the library and its Python.
set(VERNIER_TENSORFLOW_INCLUDE_DIR none)
set(VERNIER_TENSORFLOW_PYTHON "" CACHE FILEPATH
  "A Python with tensorflow, keras and tf2onnx for the tests (default: that of .deps/tensorflow)")
if(NOT VERNIER_TENSORFLOW_PYTHON AND EXISTS ${deps}/tensorflow/bin/python)
  set(VERNIER_TENSORFLOW_PYTHON ${deps}/tensorflow/bin/python)
endif()
if(NOT VERNIER_TENSORFLOW_PYTHON)
  message(STATUS "no TensorFlow to test with (scripts/deps.sh --with tensorflow): its tests are left out")
endif()

include(${VERNIER_CMAKE_DIR}/FindTorchLibrary.cmake)

# A backend whose folder looks for what it needs is added here, and nowhere else.
set(VERNIER_ENABLED_BACKENDS)
# They need no headers of a framework. OFF is for scripts/try-removals.py.
foreach(backend IDENTITY PLUGINREF TRACT)
  if(NOT "${VERNIER_BACKEND_${backend}}" STREQUAL "OFF")
    string(TOLOWER ${backend} name)
    list(APPEND VERNIER_ENABLED_BACKENDS ${name})
  endif()
endforeach()
foreach(backend ONNXRUNTIME OPENVINO TENSORFLOW TENSORRT TORCH)
  string(TOLOWER ${backend} name)
  set(fetch scripts/setup.sh)
  if(backend STREQUAL TORCH)
    set(fetch "scripts/deps.sh --with torch")
  elseif(backend STREQUAL TENSORRT)
    set(fetch "scripts/deps.sh --with tensorrt-headers")
  endif()
  if(VERNIER_BACKEND_${backend} STREQUAL "OFF")
    continue()
  endif()
  if(VERNIER_${backend}_INCLUDE_DIR)
    list(APPEND VERNIER_ENABLED_BACKENDS ${name})
  elseif(VERNIER_BACKEND_${backend} STREQUAL "ON")
    set(place VERNIER_${backend}_INCLUDE_DIR)
    if(backend STREQUAL TENSORRT)
      set(place TENSORRT_INCLUDE_DIR)
    endif()
    message(FATAL_ERROR "headers of ${name} were not found: run ${fetch}, or set ${place}")
  else()
    message(STATUS "backend ${name}: off, its headers were not found (${fetch} fetches them)")
  endif()
endforeach()
