# cmake -DOUTPUT=file.cc -DMODULES=a.ptx;b.ptx -DARCHITECTURE=compute_75 -DNVCC=nvcc -P EmbedPtx.cmake
#
# nvcc marks PTX with its own version of the language, which drivers older than it refuse. The
# kernels use nothing newer than version 7.0 (CUDA 11), so that is what they are marked with; ptxas,
# beside nvcc, checks that it is true.
get_filename_component(toolkit ${NVCC} DIRECTORY)
find_program(ptxas ptxas HINTS ${toolkit} NO_CACHE)
string(REPLACE "compute_" "sm_" device ${ARCHITECTURE})

set(texts)
set(rows)
foreach(module ${MODULES})
  get_filename_component(name ${module} NAME_WE)
  file(READ ${module} text)
  if(ptxas AND ARCHITECTURE MATCHES "^compute_(75|80)$")
    string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version 7.0" lowered "${text}")
    file(WRITE ${module}.lowered "${lowered}")
    execute_process(COMMAND ${ptxas} -O0 -arch=${device} ${module}.lowered -o ${module}.cubin
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    file(REMOVE ${module}.cubin ${module}.lowered)
    if(NOT failed)
      set(text "${lowered}")
    else()
      message(STATUS "${name}: needs a newer PTX than 7.0, and so a newer driver")
    endif()
  endif()
  string(APPEND texts "constexpr char k${name}[] = R\"ptx(${text})ptx\";\n")
  string(APPEND rows "    {\"${name}\", {k${name}, sizeof(k${name}) - 1}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/EmbedPtx.cmake.
#include \"gpu/ptx_table.h\"

namespace vernier::gpu {
namespace {

${texts}
constexpr PtxModule kModules[] = {
${rows}};

}  // namespace

std::span<const PtxModule> PtxModules() { return kModules; }

}  // namespace vernier::gpu
")
