# Tests that hold the program against Polygraphy, which runs in a Python environment of its own.
# Sets `peer` to that environment's interpreter, or to an empty string when there is none.

set(VERNIER_PEER_PYTHON "" CACHE FILEPATH
  "A Python with polygraphy 0.53.6, onnx and onnxruntime (default: that of .deps/peer)")
option(VERNIER_REQUIRE_PEER "Fail to configure where the tests against Polygraphy cannot run" OFF)

set(peer "${VERNIER_PEER_PYTHON}")
if(NOT peer)
  set(peer ${PROJECT_SOURCE_DIR}/.deps/peer/bin/python)
endif()
if(NOT EXISTS "${peer}")
  set(message "no Polygraphy to test against: '${peer}' is missing; scripts/setup.sh --tests \
installs it, VERNIER_PEER_PYTHON names another Python")
  if(VERNIER_REQUIRE_PEER)
    message(FATAL_ERROR "${message}")
  endif()
  message(STATUS "${message}. Its tests are left out.")
  set(peer "")
  return()
endif()
message(STATUS "Polygraphy to test against: ${peer}")

# peer_test(name COMMAND ... [DIRECTORY dir] [ENVIRONMENT ...] [LABELS ...] [SECONDS s] [PROCESSORS n])
function(peer_test name)
  cmake_parse_arguments(ARG "" "DIRECTORY;SECONDS;PROCESSORS" "COMMAND;ENVIRONMENT;LABELS" ${ARGN})
  set(directory ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIRECTORY})
  add_test(NAME ${name} COMMAND ${peer} ${ARG_COMMAND} WORKING_DIRECTORY ${directory})
  # `python3` is the one with NumPy: scripts run in it.
  cmake_path(GET peer PARENT_PATH peer_bin)
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;${ARG_ENVIRONMENT}"
    ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${peer_bin}"
    LABELS "${ARG_LABELS}")
  if(ARG_SECONDS)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
      math(EXPR ARG_SECONDS "10 * ${ARG_SECONDS}")
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_SECONDS})
  endif()
  if(ARG_PROCESSORS)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_PROCESSORS})
  endif()
endfunction()

# peer_modules(prefix DIRECTORY dir ...): a test for each test_*.py there, so that they run beside each
# other and a failure has a name of its own. The rest as for peer_test.
function(peer_modules prefix)
  cmake_parse_arguments(ARG "" "DIRECTORY" "" ${ARGN})
  file(GLOB modules CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIRECTORY}/test_*.py)
  foreach(module ${modules})
    cmake_path(GET module STEM module)
    string(REGEX REPLACE "^test_" "" topic ${module})
    peer_test(${prefix}.${topic} COMMAND -B -m unittest ${module} ${ARGN})
  endforeach()
endfunction()

# oracle(area DRIVER name VARIABLE name DEPS ... SECONDS s [ENVIRONMENT ...] [PROCESSORS n]):
# tests/<area>_oracle holds test_*.py and the source of a driver, whose path they read in VARIABLE.
function(oracle area)
  cmake_parse_arguments(ARG "" "DRIVER;VARIABLE;SECONDS;PROCESSORS" "DEPS;ENVIRONMENT" ${ARGN})
  add_executable(${ARG_DRIVER} ${area}_oracle/${ARG_DRIVER}.cc)
  target_compile_options(${ARG_DRIVER} PRIVATE ${VERNIER_WARNINGS})
  list(TRANSFORM ARG_DEPS PREPEND vernier_)
  target_link_libraries(${ARG_DRIVER} PRIVATE ${ARG_DEPS} nlohmann_json::nlohmann_json)
  set_target_properties(${ARG_DRIVER} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  peer_test(oracle.${area}
    COMMAND -m unittest discover
    DIRECTORY ${area}_oracle
    ENVIRONMENT "${ARG_VARIABLE}=$<TARGET_FILE:${ARG_DRIVER}>" ${ARG_ENVIRONMENT}
    LABELS oracle
    SECONDS ${ARG_SECONDS}
    PROCESSORS ${ARG_PROCESSORS})
endfunction()

oracle(cli DRIVER arg_driver VARIABLE VERNIER_ARG_DRIVER
  DEPS cli SECONDS 600 PROCESSORS 2)
oracle(compare DRIVER compare_driver VARIABLE VERNIER_COMPARE_DRIVER
  DEPS compare report SECONDS 300 ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>")
oracle(decide DRIVER decide_driver VARIABLE DECIDE_DRIVER
  DEPS decide SECONDS 300)
oracle(model DRIVER onnx_driver VARIABLE VERNIER_ONNX_DRIVER
  DEPS model util SECONDS 300)
oracle(inputs DRIVER inputs_driver VARIABLE INPUTS_DRIVER
  DEPS inputs SECONDS 300)
oracle(io DRIVER io_driver VARIABLE IO_DRIVER
  DEPS io SECONDS 300)

# The whole program. Backends are loaded when it runs, so they have to be built by then.
set(vernier $<TARGET_FILE:vernier>)
set(work ${PROJECT_BINARY_DIR}/differential)
# Packages that Polygraphy has beside its own in some tests: scripts/deps.sh --with graphsurgeon.
# Without them the rows of the table that ask for them fail.
file(GLOB graphsurgeon ${PROJECT_SOURCE_DIR}/.deps/graphsurgeon/lib/python3*/site-packages)
set(VERNIER_GRAPHSURGEON "${graphsurgeon}" CACHE PATH
  "Folder with onnx_graphsurgeon, yaml and matplotlib for the peer's Python")
peer_test(differential
  COMMAND differential/run_differential.py --vernier ${vernier} --peer ${peer} --work ${work}
    --packages "${VERNIER_GRAPHSURGEON}"
  LABELS oracle
  SECONDS 1500
  PROCESSORS 2)
# A reduced case of what bench/tolerance_proof.py shows with 300 networks.
peer_test(tolerance.oracle
  COMMAND ${PROJECT_SOURCE_DIR}/bench/tolerance_proof.py --vernier ${vernier} --networks 24
    --first-seed 3000 --pass-rate 0.97 --detection-rate 0.9
  LABELS oracle
  SECONDS 300
  PROCESSORS 2)
peer_test(golden
  COMMAND golden/check_golden.py --vernier ${vernier} --peer ${peer} --data ${work}
  LABELS oracle
  SECONDS 300)
# Both make the models there; the first of them does.
set_tests_properties(differential golden PROPERTIES RESOURCE_LOCK differential-work)
# Networks of full size, 600 MB of them, in a folder of their own.
peer_test(light
  COMMAND differential/run_differential.py --light --filter ^light- --vernier ${vernier}
    --peer ${peer} --work ${PROJECT_BINARY_DIR}/light
  LABELS light
  SECONDS 600
  PROCESSORS 2)
peer_test(seeds
  COMMAND -m unittest test_seeds
  DIRECTORY seeds
  ENVIRONMENT "VERNIER=${vernier}"
  LABELS oracle
  SECONDS 300)
# The commands that live from files, held against Polygraphy's own tools.
peer_modules(commands
  DIRECTORY commands
  ENVIRONMENT "VERNIER=${vernier}"
  LABELS oracle
  SECONDS 600)

# Suites of a backend, in its folder. They may use what those of commands and of trained networks
# use.
foreach(backend ${VERNIER_ENABLED_BACKENDS})
  if(NOT backend IN_LIST untested_backends)
    peer_modules(backend.${backend}
      DIRECTORY ../backends/${backend}/tests
      ENVIRONMENT "VERNIER=${vernier}"
        "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/commands:${CMAKE_CURRENT_SOURCE_DIR}/trained"
      LABELS oracle
      SECONDS 600)
  endif()
endforeach()

# The linter's table of operators against the onnx package.
peer_test(oracle.operators
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/operator-table.py --check
  LABELS oracle
  SECONDS 60)

peer_modules(oracle.python
  DIRECTORY python
  ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>"
  SECONDS 900)

# Which layer is to blame: a sample of the planted faults; scripts/deep.sh tries the whole family.
peer_modules(blame
  DIRECTORY blame
  ENVIRONMENT "VERNIER=${vernier};PLANTED=16"
  LABELS oracle
  SECONDS 900
  PROCESSORS 2)

# Networks that people trained, which scripts/deps.sh --tests fetches.
peer_modules(trained
  DIRECTORY trained
  ENVIRONMENT "VERNIER=${vernier}"
  LABELS oracle
  SECONDS 600
  PROCESSORS 2)

if(torch_version)
  peer_modules(oracle.torch
    DIRECTORY torch
    ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>" "VERNIER_TORCH_PYTHON=${VERNIER_TORCH_PYTHON}"
      "VERNIER_TORCH_PLUGIN=${torch_plugin}"
    SECONDS 600)
endif()
include(trt_trace/trt_trace.cmake)
include(trt_standin/trt_standin.cmake)
# TensorRT through a Python module that stands in for it.
peer_modules(oracle.trt_python
  DIRECTORY trt_python
  ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>"
    "VERNIER_FAKE_CUDA_DIR=$<TARGET_FILE_DIR:fake_cuda>"
  LABELS oracle
  SECONDS 300)
include(docs/docs.cmake)
include(peer_tools/peer_tools.cmake)
