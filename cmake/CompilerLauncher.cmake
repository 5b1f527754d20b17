# Has ccache call the compilers, where there is one that works. CMAKE_CXX_COMPILER_LAUNCHER, of
# CMake or the environment, names another launcher, or none. Included after project(); nothing goes
# into the cache, so that each configuration finds what is installed by then.

# Sets `result` to the words before a compiler's, empty without ccache. Its folder is in the home
# folder, which may be missing or not ours: ccache then has one in the build folder.
function(vernier_find_ccache result)
  set(${result} "" PARENT_SCOPE)
  find_program(ccache ccache NO_CACHE)
  cmake_path(GET CMAKE_CXX_COMPILER FILENAME compiler)
  if(NOT ccache OR compiler STREQUAL ccache)
    return()
  endif()
  set(launcher ${ccache})
  execute_process(COMMAND ${ccache} --get-config cache_dir OUTPUT_VARIABLE folder ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND sh -c "mkdir -p \"$1\" && test -w \"$1\"" sh "${folder}"
    RESULT_VARIABLE unusable ERROR_QUIET)
  if(unusable)
    set(own ${CMAKE_BINARY_DIR}/ccache)
    message(STATUS "ccache cannot write '${folder}': it uses ${own} instead")
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_DIR=${own} ${ccache})
  endif()
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/ccache-probe)
  file(WRITE ${probe}.cc "int main() { return 0; }\n")
  execute_process(COMMAND ${launcher} ${CMAKE_CXX_COMPILER} -c ${probe}.cc -o ${probe}.o
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE reason)
  if(failed)
    string(REGEX REPLACE "\n.*" "" reason "${reason}")
    message(STATUS "ccache does not work (${reason}): it is left out")
    return()
  endif()
  set(${result} ${launcher} PARENT_SCOPE)
endfunction()

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  vernier_find_ccache(CMAKE_CXX_COMPILER_LAUNCHER)
  if(NOT DEFINED CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER)
  list(JOIN CMAKE_CXX_COMPILER_LAUNCHER " " words)
  message(STATUS "compiled through ${words}")
endif()
