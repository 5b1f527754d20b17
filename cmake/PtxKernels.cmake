# Kernels compiled to PTX by nvcc, where there is one, and embedded as text.
#   VERNIER_GPU           AUTO (when nvcc is found), ON or OFF
#   VERNIER_NVCC          the compiler
#   VERNIER_PTX_ARCH      the oldest GPU that it can compile for, e.g. compute_75
if(NOT VERNIER_GPU STREQUAL "OFF")
  find_program(VERNIER_NVCC nvcc HINTS $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda
    PATH_SUFFIXES bin)
endif()
set(VERNIER_GPU_ENABLED OFF)
if(VERNIER_NVCC)
  execute_process(COMMAND ${VERNIER_NVCC} --list-gpu-arch OUTPUT_VARIABLE architectures
    RESULT_VARIABLE failed ERROR_QUIET)
  string(REGEX MATCHALL "compute_[0-9]+" architectures "${architectures}")
  list(SORT architectures COMPARE NATURAL)
  # Turing is the oldest that a current driver serves.
  list(FILTER architectures EXCLUDE REGEX "^compute_([1-6][0-9]|7[0-4])$")
  if(NOT failed AND architectures)
    list(GET architectures 0 VERNIER_PTX_ARCH)
    set(VERNIER_GPU_ENABLED ON)
  endif()
endif()
if(VERNIER_GPU STREQUAL "ON" AND NOT VERNIER_GPU_ENABLED)
  message(FATAL_ERROR "VERNIER_GPU is ON, but no nvcc that works was found: set VERNIER_NVCC")
endif()

# vernier_embed_ptx(output KERNELS file:variant ...): writes a source file that defines PtxModules().
function(vernier_embed_ptx output)
  cmake_parse_arguments(ARG "" "" "KERNELS" ${ARGN})
  set(modules)
  foreach(kernel ${ARG_KERNELS})
    string(REPLACE ":" ";" parts ${kernel})
    list(GET parts 0 source)
    list(GET parts 1 variant)
    set(module ${CMAKE_CURRENT_BINARY_DIR}/${variant}.ptx)
    add_custom_command(OUTPUT ${module}
      COMMAND ${CMAKE_COMMAND} -E env --unset=CCACHE_PREFIX ${VERNIER_NVCC} --ptx
        --gpu-architecture=${VERNIER_PTX_ARCH} --std=c++17 --fmad=false -O3
        -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
        -DVERNIER_VARIANT=${variant} -MD -MF ${module}.d
        ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${module}
      DEPENDS ${source}
      DEPFILE ${module}.d
      COMMENT "PTX of ${variant}"
      VERBATIM)
    list(APPEND modules ${module})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DMODULES=${modules}"
      -DARCHITECTURE=${VERNIER_PTX_ARCH} -DNVCC=${VERNIER_NVCC}
      -P ${VERNIER_CMAKE_DIR}/EmbedPtx.cmake
    DEPENDS ${modules} ${VERNIER_CMAKE_DIR}/EmbedPtx.cmake
    COMMENT "Embedding the PTX"
    VERBATIM)
endfunction()
