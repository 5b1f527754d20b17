# Commands that need ONNX-GraphSurgeon, against Polygraphy's, where scripts/deps.sh --with
# graphsurgeon has put it.
if(NOT EXISTS "${VERNIER_GRAPHSURGEON}/onnx_graphsurgeon")
  message(STATUS "no ONNX-GraphSurgeon (scripts/deps.sh --with graphsurgeon): the tests of plugin, \
multi-device and inspect capability against Polygraphy are left out.")
  return()
endif()
peer_test(oracle.peer_tools
  COMMAND -B -m unittest discover
  DIRECTORY peer_tools
  ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>" "PYTHONPATH=${VERNIER_GRAPHSURGEON}"
    "VERNIER_FAKE_CUDA_DIR=$<TARGET_FILE_DIR:fake_cuda>"
  LABELS oracle
  SECONDS 300)
