# TensorRT 10 as a small library that is built here from its headers: it notes what it is told and
# answers plausibly. With it the real plug-in is tested where there is no GPU and no TensorRT.
if(NOT 10 IN_LIST VERNIER_TENSORRT_MAJORS OR NOT TARGET vernier_backend_tensorrt_10)
  message(STATUS "no headers of TensorRT 10 (scripts/deps.sh --with tensorrt-headers): the tests of "
    "its plug-in are left out")
  return()
endif()
set(standin_headers ${VERNIER_TENSORRT_10_INCLUDE_DIR})
set(standin_dir ${CMAKE_CURRENT_SOURCE_DIR}/trt_standin)
set(standin_out ${CMAKE_CURRENT_BINARY_DIR}/trt_standin)
set(standin_classes ${standin_out}/standin_classes.h)
add_custom_command(OUTPUT ${standin_classes}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${standin_out}
  COMMAND Python3::Interpreter -B ${standin_dir}/make_standin.py ${standin_headers}
    ${standin_classes}
  DEPENDS ${standin_dir}/make_standin.py ${CMAKE_CURRENT_SOURCE_DIR}/trt_trace/make_proxies.py
    ${standin_headers}/NvInferImpl.h
  VERBATIM)
add_library(trt_standin SHARED
  ${standin_dir}/builder.cc
  ${standin_dir}/engine.cc
  ${standin_dir}/parser.cc
  ${standin_dir}/plan.cc
  ${standin_classes})
target_include_directories(trt_standin PRIVATE ${standin_dir} ${standin_out})
target_include_directories(trt_standin SYSTEM PRIVATE
  ${standin_headers} ${VERNIER_CUDA_INCLUDE_DIR})
target_compile_options(trt_standin PRIVATE ${VERNIER_WARNINGS} -Wno-deprecated-declarations)
target_link_libraries(trt_standin PRIVATE vernier_model)
# The plug-in looks for the parser and the layers beside it.
set_target_properties(trt_standin PROPERTIES
  OUTPUT_NAME nvinfer SUFFIX .so.10 NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${standin_out})
add_custom_command(TARGET trt_standin POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libnvinfer.so.10 libnvonnxparser.so.10
  COMMAND ${CMAKE_COMMAND} -E create_symlink libnvinfer.so.10 libnvinfer_plugin.so.10
  WORKING_DIRECTORY ${standin_out})
peer_test(oracle.trt_standin
  COMMAND -B -m unittest test_standin test_shared_timings test_steps
  DIRECTORY trt_standin
  ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>"
    "VERNIER_TRT_STANDIN_LIBRARY=$<TARGET_FILE:trt_standin>"
    "VERNIER_FAKE_CUDA_DIR=$<TARGET_FILE_DIR:fake_cuda>"
  LABELS oracle
  SECONDS 300)
