#include "check/lint/lint_words.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/edit/model_composer.h"
#include "model/onnx/wire_reader.h"

namespace vernier {

// The smallest model of the same versions: y = Identity(x).
BytePieces SmallestModel(const OnnxModel& model) {
  TensorInfo x{"x", DType::kFloat32, std::vector<Dim>{{1, {}}}};
  TensorInfo y = x;
  y.name = "y";
  std::string node, graph, bytes;
  AppendBytesField(node, 1, "x");
  AppendBytesField(node, 2, "y");
  AppendBytesField(node, 4, "Identity");
  AppendBytesField(graph, 1, node);
  AppendBytesField(graph, 2, "smallest");
  AppendBytesField(graph, 11, MakeValueInfo(x));
  AppendBytesField(graph, 12, MakeValueInfo(y));
  AppendVarintField(bytes, 1, static_cast<uint64_t>(model.contents().ir_version));
  // Before the imports, as exporters write it: OpenVINO takes no file for a model in which a field
  // occurs twice among the first ones.
  AppendBytesField(bytes, 7, graph);
  for (const OnnxOpset& opset : model.contents().opsets) {
    std::string import;
    AppendBytesField(import, 1, opset.domain);
    AppendVarintField(import, 2, static_cast<uint64_t>(opset.version));
    AppendBytesField(bytes, 8, import);
  }
  BytePieces pieces;
  pieces.AddOwned(std::move(bytes));
  return pieces;
}

// The first line of a framework's message, without what is about its own sources.
std::string PruneMessage(std::string_view message) {
  std::string text(message.substr(0, message.find('\n')));
  const auto drop_through = [&](std::string_view end) {
    if (const size_t at = text.rfind(end); at != std::string::npos) text.erase(0, at + end.size());
  };
  if (const size_t at = text.find("[ONNXRuntimeError] : "); at != std::string::npos) {
    // "[ONNXRuntimeError] : <number> : <its name> : <message>"
    size_t begin = at;
    for (int i = 0; i < 3 && begin != std::string::npos; ++i) {
      begin = text.find(" : ", begin == at ? at : begin + 1);
    }
    if (begin != std::string::npos) text.erase(0, begin + 3);
  }
  drop_through("Status Message: ");
  drop_through("[ShapeInferenceError] ");  // "Node (name) Op (type)": the finding names them
  // "/path/file.cc:12 returned Class::Function(arguments) "
  if (const size_t at = text.find(".cc:"); text.starts_with("/") && at != std::string::npos) {
    const size_t end = text.find(") ", at);
    if (end != std::string::npos) text.erase(0, end + 2);
  }
  for (const std::string_view part :
       {"This is an invalid model. ", "Error: ", "Failed to load model with error: ",
        "Exception caught: ", "Exception during loading: "}) {
    if (const size_t at = text.find(part); at != std::string::npos) text.erase(at, part.size());
  }
  return text;
}

}  // namespace vernier
