# vernier_require_static(root library...): each library is an archive below the root, or configuring
# ends. find_package goes on to the distribution's archives, which are not position-independent:
# the Python module would not link. A bare "m" is the C library's and stays shared.
function(vernier_require_static root)
  get_filename_component(root ${root} REALPATH)
  list(REMOVE_ITEM ARGN m)
  foreach(library ${ARGN})
    get_filename_component(real "${library}" REALPATH)
    string(FIND "${real}" "${root}/" place)
    if(NOT place EQUAL 0 OR NOT EXISTS "${real}" OR NOT real MATCHES "\\.a$")
      message(FATAL_ERROR "VERNIER_STATIC_LIBRARIES: '${library}' is no archive below '${root}': "
        "remove that folder, and build it again with scripts/static-libraries.sh")
    endif()
  endforeach()
endfunction()
