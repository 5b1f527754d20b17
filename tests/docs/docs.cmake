# The documentation: its pages, the commands in them, and, where Sphinx is installed, the site.
add_test(NAME docs.Pages
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs/test_pages.py)
set_tests_properties(docs.Pages PROPERTIES
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;VERNIER=$<TARGET_FILE:vernier>" TIMEOUT 60)
add_test(NAME docs.ShownOutput
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs/test_shown_output.py)
set_tests_properties(docs.ShownOutput PROPERTIES
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1" TIMEOUT 60)
peer_test(docs.Commands
  COMMAND docs/run_commands.py
  ENVIRONMENT "VERNIER=$<TARGET_FILE:vernier>"
  SECONDS 300
  PROCESSORS 2)
execute_process(COMMAND /usr/bin/python3 -c "import sphinx, myst_parser"
  RESULT_VARIABLE no_sphinx OUTPUT_QUIET ERROR_QUIET)
if(no_sphinx EQUAL 0)
  add_test(NAME docs.Site
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/docs/check_site.sh ${PROJECT_BINARY_DIR}/docs)
  set_tests_properties(docs.Site PROPERTIES TIMEOUT 300)
endif()
