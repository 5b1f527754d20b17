# TensorRT's calls as they were recorded on a GPU (traces/), looked up where there is none. What
# crosses the library's boundary is known of the headers of 8.5 alone, as are the recordings.
if(NOT 8 IN_LIST VERNIER_TENSORRT_MAJORS OR NOT TARGET vernier_backend_tensorrt_8)
  return()
endif()
set(trace_headers ${VERNIER_TENSORRT_8_INCLUDE_DIR})
file(STRINGS ${trace_headers}/NvInferVersion.h trace_minor REGEX "^#define NV_TENSORRT_MINOR 5")
if(NOT trace_minor)
  message(STATUS "TensorRT's headers are not those of 8.5: its recorded calls are not tested")
  return()
endif()

set(trace_dir ${CMAKE_CURRENT_SOURCE_DIR}/trt_trace)
set(trace_proxies ${CMAKE_CURRENT_BINARY_DIR}/trt_trace/trt_proxies.h)
add_custom_command(OUTPUT ${trace_proxies}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/trt_trace
  COMMAND Python3::Interpreter -B ${trace_dir}/make_proxies.py ${trace_headers} ${trace_proxies}
  DEPENDS ${trace_dir}/make_proxies.py ${trace_headers}/NvInferImpl.h
  VERBATIM)
add_library(trt_trace SHARED
  ${trace_dir}/trace_library.cc ${trace_dir}/tape.cc ${trace_proxies})
target_include_directories(trt_trace PRIVATE
  ${trace_dir} ${CMAKE_CURRENT_BINARY_DIR}/trt_trace)
target_include_directories(trt_trace SYSTEM PRIVATE ${trace_headers} ${VERNIER_CUDA_INCLUDE_DIR})
target_compile_options(trt_trace PRIVATE ${VERNIER_WARNINGS} -Wno-deprecated-declarations)
target_link_libraries(trt_trace PRIVATE ${CMAKE_DL_LIBS})
# The plug-in looks for the parser and the layers beside it. Without a name of its own it is not taken
# for the real one, which NVIDIA's other libraries ask for.
set_target_properties(trt_trace PROPERTIES
  OUTPUT_NAME nvinfer SUFFIX .so.8 NO_SONAME ON
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/trt_trace)
add_custom_command(TARGET trt_trace POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libnvinfer.so.8 libnvonnxparser.so.8
  COMMAND ${CMAKE_COMMAND} -E create_symlink libnvinfer.so.8 libnvinfer_plugin.so.8
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/trt_trace)
peer_test(oracle.trt_trace
  COMMAND -m unittest test_traces
  DIRECTORY trt_trace
  ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>"
    "VERNIER_TRT_TRACE_LIBRARY=$<TARGET_FILE:trt_trace>"
    "VERNIER_FAKE_CUDA_DIR=$<TARGET_FILE_DIR:fake_cuda>"
  LABELS oracle
  SECONDS 300)
