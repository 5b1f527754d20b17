# PyTorch's headers and libraries, for the TorchScript plug-in: those of the distribution, or of
# TORCH_ROOT (a torch folder in site-packages, or an unpacked libtorch). PyTorch's own package file
# is not used: it would demand CUDA, MKL and protobuf to build a library that needs none of them.
# Sets VERNIER_TORCH_INCLUDE_DIR, VERNIER_TORCH_LIBRARIES, VERNIER_TORCH_VERSION and
# VERNIER_TORCH_FLAGS.
find_path(VERNIER_TORCH_INCLUDE_DIR torch/script.h
  HINTS ${TORCH_ROOT} $ENV{TORCH_ROOT} PATH_SUFFIXES include)
set(VERNIER_TORCH_LIBRARIES)
foreach(library torch torch_cpu c10)
  find_library(VERNIER_TORCH_LIBRARY_${library} ${library}
    HINTS ${TORCH_ROOT} $ENV{TORCH_ROOT} PATH_SUFFIXES lib)
  mark_as_advanced(VERNIER_TORCH_LIBRARY_${library})
  if(NOT VERNIER_TORCH_LIBRARY_${library})
    set(VERNIER_TORCH_INCLUDE_DIR "")
  endif()
  list(APPEND VERNIER_TORCH_LIBRARIES ${VERNIER_TORCH_LIBRARY_${library}})
endforeach()
if(NOT VERNIER_TORCH_INCLUDE_DIR)
  return()
endif()

# The version, as backends/torch/torch_library.cc tells it of a library when it runs.
get_filename_component(package ${VERNIER_TORCH_LIBRARY_torch} DIRECTORY)
get_filename_component(package ${package} DIRECTORY)
get_filename_component(real ${VERNIER_TORCH_LIBRARY_torch} REALPATH)
set(VERNIER_TORCH_VERSION "")
if(real MATCHES "\\.so\\.(.+)$")
  set(VERNIER_TORCH_VERSION ${CMAKE_MATCH_1})
elseif(EXISTS ${package}/version.py)
  file(STRINGS ${package}/version.py line REGEX "^__version__")
  string(REGEX REPLACE "^[^'\"]*['\"]([^'\"]*)['\"].*" "\\1" VERNIER_TORCH_VERSION "${line}")
elseif(EXISTS ${package}/build-version)
  file(STRINGS ${package}/build-version VERNIER_TORCH_VERSION LIMIT_COUNT 1)
endif()
if(NOT VERNIER_TORCH_VERSION)
  set(VERNIER_TORCH_INCLUDE_DIR "")
  return()
endif()

# Wheels before 2.7 have the old std::string.
set(VERNIER_TORCH_FLAGS)
if(EXISTS ${package}/share/cmake/Torch/TorchConfig.cmake)
  file(STRINGS ${package}/share/cmake/Torch/TorchConfig.cmake old_strings
    REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old_strings)
    set(VERNIER_TORCH_FLAGS -D_GLIBCXX_USE_CXX11_ABI=0)
  endif()
endif()
