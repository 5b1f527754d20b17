# The tarball and the Debian package that scripts/packages.sh makes: the program, its plug-ins and
# what builds plug-ins against it. Frameworks are found where it runs, and are no dependency.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_VENDOR "vernier")
set(CPACK_PACKAGE_CONTACT "the vernier maintainers <maintainers@vernier.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compare a neural network under several runtimes")
string(CONCAT CPACK_PACKAGE_DESCRIPTION
  "Runs one model under several frameworks, precisions or devices on the same inputs, compares "
  "what comes out, and names the first layer that differs. Takes the command lines and files of "
  "NVIDIA Polygraphy.")
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" machine)
set(CPACK_PACKAGE_FILE_NAME "vernier-${PROJECT_VERSION}-${machine}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# One archive of everything; what only a wheel has is left out of an ordinary installation anyway.
set(CPACK_MONOLITHIC_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Scripts, Python runners and ONNX's reference run in the interpreter that is there.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-numpy")
include(CPack)
