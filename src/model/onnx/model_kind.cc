#include "model/onnx/model_kind.h"

namespace vernier {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t offset;
  std::string_view magic;
  std::string_view meaning;
};

constexpr Signature kSignatures[] = {
    {0, "PK\x03\x04"sv, "a zip archive (a PyTorch checkpoint, a Keras model or an .npz?)"},
    {0, "\x1f\x8b"sv, "gzip data: unpack it first"},
    {0, "BZh"sv, "bzip2 data: unpack it first"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "xz data: unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "zstandard data: unpack it first"},
    {0, "\x80\x02"sv, "a Python pickle (an old PyTorch checkpoint?)"},
    {0, "\x80\x03"sv, "a Python pickle"},
    {0, "\x80\x04"sv, "a Python pickle"},
    {0, "\x80\x05"sv, "a Python pickle"},
    {0, "ftrt"sv, "a TensorRT engine: give it the extension .engine or say --model-type engine"},
    {0, "ptrt"sv, "a TensorRT engine: give it the extension .engine or say --model-type engine"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file (a Keras model?)"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer: run 'git lfs pull' to get the model"},
    {0, "<?xml"sv, "XML (an OpenVINO model?)"},
    {0, "<!DOCTYPE"sv, "a web page: was the download redirected?"},
    {0, "<html"sv, "a web page: was the download redirected?"},
    {0, "{"sv, "JSON text"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library"},
    {4, "ORTM"sv, "an ONNX Runtime .ort file"},
    {4, "TFL3"sv, "a TensorFlow Lite model"},
    {8, "{\""sv, "a safetensors file"},
    {257, "ustar"sv, "a tar archive: unpack it first"},
};

}  // namespace

std::string DescribeForeignFile(std::string_view bytes) {
  for (const Signature& signature : kSignatures) {
    if (bytes.size() >= signature.offset &&
        bytes.substr(signature.offset).starts_with(signature.magic)) {
      return "it looks like " + std::string(signature.meaning);
    }
  }
  return {};
}

}  // namespace vernier
