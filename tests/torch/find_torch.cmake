# PyTorch of the distribution (scripts/deps.sh --with torch), in an interpreter that is not the
# peer's: of the system, or VERNIER_TORCH_PYTHON. torch_version is empty where there is none;
# torch_plugin says whether the TorchScript plug-in is built.
find_program(VERNIER_TORCH_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(torch_version "")
set(torch_plugin 0)
if(VERNIER_TORCH_PYTHON)
  execute_process(COMMAND ${VERNIER_TORCH_PYTHON} -c "import numpy, torch; print(torch.__version__)"
    OUTPUT_VARIABLE torch_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(torch_version)
  if(torch IN_LIST VERNIER_ENABLED_BACKENDS)
    set(torch_plugin 1)
  endif()
  message(STATUS "PyTorch to test with: ${torch_version} of ${VERNIER_TORCH_PYTHON}, "
    "plug-in: ${torch_plugin}")
else()
  message(STATUS "no PyTorch to test with: '${VERNIER_TORCH_PYTHON}' has no torch; "
    "scripts/deps.sh --with torch installs it. Its tests are left out.")
endif()
