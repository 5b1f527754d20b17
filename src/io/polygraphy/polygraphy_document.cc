#include "io/polygraphy/polygraphy_document.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/polygraphy/base64_source.h"
#include "io/polygraphy/polygraphy_array.h"

namespace vernier {
namespace {

bool NamesModel(std::string_view path) {
  constexpr std::string_view kExtensions[] = {".onnx", ".engine", ".plan", ".pt",
                                              ".pth",  ".keras",  ".h5",   ".tflite"};
  return std::any_of(std::begin(kExtensions), std::end(kExtensions),
                     [&](std::string_view extension) { return path.ends_with(extension); });
}

// What is read as JSON because its name says nothing else.
std::string KnownFormats(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension.empty() || extension == ".json") return "";
  return "; inputs and outputs are read from .json, .npz, .npy, .safetensors or ONNX test data";
}

}  // namespace

Result<std::unique_ptr<PolygraphyDocument>> PolygraphyDocument::Open(const std::string& path,
                                                                     const JsonCut& cut) {
  VERNIER_ASSIGN_OR_RETURN(auto file, InputFile::Open(path));
  VERNIER_ASSIGN_OR_RETURN(auto document, Open(path, JsonText(file), TensorPool::Create(), cut));
  document->file_ = std::move(file);
  return document;
}

Result<std::unique_ptr<PolygraphyDocument>> PolygraphyDocument::Open(
    std::string path, JsonText text, std::shared_ptr<TensorPool> pool, const JsonCut& cut) {
  Result<JsonTape> tape = JsonTape::Parse(std::move(text), NpyPayloadLength, cut);
  if (!tape.ok() && NamesModel(path)) {
    return Malformed("'" + path +
                     "' is a model, not a file of saved inputs, outputs or tactics. To compare "
                     "models, use vernier run or vernier blame");
  }
  if (!tape.ok()) {
    const Status why = std::move(tape).Annotate("'" + path + "': not valid JSON").status();
    return Status(why.code(), why.message() + KnownFormats(path));
  }
  return std::unique_ptr<PolygraphyDocument>(
      new PolygraphyDocument(std::move(path), *std::move(tape), std::move(pool)));
}

Result<std::unique_ptr<PolygraphyDocument>> PolygraphyDocument::OpenCut(JsonValue object) const {
  const JsonRange range = object.Range();
  return Open(path_, range.text->Part(range.begin, range.end), pool_);
}

Status PolygraphyDocument::Annotate(Status status) const {
  return std::move(status).Annotate("'" + path() + "'");
}

Result<TensorMap> PolygraphyDocument::DecodeTensors(JsonValue map) const {
  const std::vector<JsonValue::Member> members = map.Members();
  TensorMap tensors;
  tensors.reserve(members.size());
  for (const auto& [name, value] : members) {
    Result<Tensor> tensor = DecodePolygraphyArray(value, pool_.get());
    if (!tensor.ok()) {
      return Annotate(std::move(tensor).status().Annotate("tensor '" + name + "'"));
    }
    tensors.push_back({name, *std::move(tensor)});
  }
  return tensors;
}

}  // namespace vernier
