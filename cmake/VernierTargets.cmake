# One CMake library a folder of src/. A library names those below it in DEPS, which must have been
# added before it; so the order in src/CMakeLists.txt is the direction that docs/architecture.md
# draws. That #include lines keep to DEPS is checked by tests/layers/check_includes.py, as a part of
# the build where tests are built, and by scripts/lint.sh. Links between libraries do not check it:
# they are PUBLIC, because headers include headers of the folders below theirs, and all folders have
# one include path, src/, with which any of them is found. Only what is not ours is linked PRIVATE.

# Compiles the sources of a target together, 32 at a time: headers are half of the work. Names
# in anonymous namespaces are therefore unique within a folder. SEPARATE sources stay apart:
# those that include themselves for each instruction set.
function(vernier_compile_together target)
  cmake_parse_arguments(ARG "" "" "SEPARATE" ${ARGN})
  if(VERNIER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
    set_source_files_properties(${ARG_SEPARATE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# vernier_library(name SOURCES ... [SEPARATE sources ...] [DEPS vernier libraries]
#   [LINK external targets] [OPTIONS flags] [COLD]): SEPARATE sources are compiled each by itself;
# COLD ones decide and print but have no loop over elements, and compile a fifth faster with -O1.
function(vernier_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;SEPARATE;DEPS;LINK;OPTIONS" ${ARGN})
  add_library(vernier_${name} STATIC ${ARG_SOURCES} ${ARG_SEPARATE})
  vernier_compile_together(vernier_${name} SEPARATE ${ARG_SEPARATE})
  target_include_directories(vernier_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  set_property(GLOBAL APPEND PROPERTY VERNIER_LIBRARIES vernier_${name})
  set_property(GLOBAL APPEND PROPERTY VERNIER_LIBRARY_LINKS ${ARG_LINK})
  target_compile_options(vernier_${name} PRIVATE ${VERNIER_WARNINGS}
    $<$<CONFIG:Release>:$<IF:$<BOOL:${ARG_COLD}>,-O1,-O2>> ${ARG_OPTIONS})
  list(TRANSFORM ARG_DEPS PREPEND vernier_)
  foreach(dep ${ARG_DEPS})
    if(NOT TARGET ${dep})
      message(FATAL_ERROR "vernier_${name}: ${dep} is not below it (see src/CMakeLists.txt)")
    endif()
  endforeach()
  target_link_libraries(vernier_${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_LINK})
endfunction()

# vernier_test(name SOURCES ... DEPS ...): a GoogleTest binary whose cases CTest sees one by one.
function(vernier_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LINK" ${ARGN})
  if(NOT VERNIER_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  vernier_compile_together(${name})
  target_compile_options(${name} PRIVATE ${VERNIER_WARNINGS} $<$<CONFIG:Release>:-O1>)
  list(TRANSFORM ARG_DEPS PREPEND vernier_)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    VERNIER_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
  # Cases of parameterised tests are known by their names, not by what their values print as.
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES)
endfunction()

# vernier_add_backend(name SOURCES ... [INCLUDE dirs] [LINK targets] [NO_INSTALL]): a plug-in that
# exports vn_backend_query and nothing else.
function(vernier_add_backend name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "SOURCES;INCLUDE;LINK" ${ARGN})
  set(target vernier_backend_${name})
  add_library(${target} MODULE ${ARG_SOURCES})
  vernier_compile_together(${target})
  target_link_libraries(${target} PRIVATE vernier::backend_sdk ${ARG_LINK} ${CMAKE_DL_LIBS})
  target_include_directories(${target} SYSTEM PRIVATE ${ARG_INCLUDE})
  target_compile_options(${target} PRIVATE ${VERNIER_WARNINGS})
  set(export_list ${VERNIER_CMAKE_DIR}/backend_exports.lds)
  target_link_options(${target} PRIVATE -Wl,--version-script=${export_list})
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/vernier/backends
    LINK_DEPENDS ${export_list})
  if(NOT ARG_NO_INSTALL)
    set_property(GLOBAL APPEND PROPERTY VERNIER_BACKEND_TARGETS ${target})
    install(TARGETS ${target} LIBRARY DESTINATION lib/vernier/backends)
  endif()
endfunction()

# vernier_embed_text(output HEADER file NAMESPACE name TEXTS kName file... kOther file...): writes a
# source file that defines what the header declares: the contents of files.
function(vernier_embed_text output)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE" "TEXTS" ${ARGN})
  set(texts)
  set(files)
  foreach(word ${ARG_TEXTS})
    if(word MATCHES "^k[A-Z][A-Za-z0-9]*$")
      list(APPEND texts "${word}=")
    else()
      list(POP_BACK texts last)
      if(NOT last MATCHES "=$")
        string(APPEND last "+")
      endif()
      list(APPEND texts "${last}${word}")
      list(APPEND files ${word})
    endif()
  endforeach()
  string(REPLACE ";" "," texts "${texts}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${ARG_HEADER}
      -DNAMESPACE=${ARG_NAMESPACE} "-DTEXTS=${texts}" -P ${VERNIER_CMAKE_DIR}/EmbedText.cmake
    DEPENDS ${files} ${VERNIER_CMAKE_DIR}/EmbedText.cmake
    COMMENT "Embedding ${ARG_HEADER}"
    VERBATIM)
endfunction()
