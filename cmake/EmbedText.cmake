# cmake -DOUTPUT=file.cc -DHEADER=a/b.h -DNAMESPACE=a::b "-DTEXTS=kName=file+file,kOther=file"
#   -P EmbedText.cmake
#
# Writes a source file that defines string_views of the contents of files, joined by line ends. A
# name without files is empty text.
set(definitions)
string(REPLACE "," ";" texts "${TEXTS}")
foreach(entry ${texts})
  string(REGEX MATCH "^([A-Za-z0-9_]+)=(.*)$" matched "${entry}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "+" ";" files "${CMAKE_MATCH_2}")
  set(pieces)
  foreach(file ${files})
    # As bytes: a CMake list would break at brackets and semicolons.
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND pieces "${bytes}0x0a,\n")
  endforeach()
  string(APPEND definitions
    "constexpr unsigned char ${name}Bytes[] = {\n${pieces}0};\n"
    "const std::string_view ${name}(reinterpret_cast<const char*>(${name}Bytes), "
    "sizeof(${name}Bytes) - 1);\n\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/EmbedText.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

${definitions}}  // namespace ${NAMESPACE}
")
