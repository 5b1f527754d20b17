#include "model/onnx/onnx_model.h"

#include <unordered_set>

#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_parser.h"
#include "model/onnx/wire_reader.h"
#include "util/files/mapped_file.h"

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

// A clause for the end of a sentence, such as "it looks like a zip archive (a PyTorch checkpoint
// or .npz?)". Empty when the first bytes say nothing. Only the first 512 bytes are read.
std::string DescribeForeignFile(std::string_view bytes) {
  for (const Signature& signature : kSignatures) {
    if (bytes.size() >= signature.offset &&
        bytes.substr(signature.offset).starts_with(signature.magic)) {
      return "it looks like " + std::string(signature.meaning);
    }
  }
  return {};
}

// protobuf's own limit: no runtime reads a larger file.
constexpr size_t kLargestFile = 0x7fffffff;

Status WithHint(Status status, std::string_view bytes) {
  const std::string hint = DescribeForeignFile(bytes);
  if (hint.empty()) return status;
  return Malformed(status.message() + "; " + hint);
}

void ReadDimension(WireReader reader, Dim& dim) {
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) {
      const int64_t value = reader.Int64();
      dim = Dim{.value = value < 0 ? -1 : value, .symbol = {}};
    } else if (reader.Is(2, WireType::kBytes)) {
      dim = Dim{.value = -1, .symbol = std::string(reader.Bytes())};
    } else {
      reader.Skip();
    }
  }
}

void ReadShape(WireReader reader, std::vector<Dim>& shape) {
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) {
      ReadDimension(reader.Message(OnnxMessage::kDimension), shape.emplace_back());
    } else {
      reader.Skip();
    }
  }
}

// `wanted`: the field of TypeProto that the value's kind is.
void ReadTypeShape(WireReader reader, uint32_t wanted, std::optional<std::vector<Dim>>& shape) {
  while (reader.Next()) {
    if (!reader.Is(wanted, WireType::kBytes)) {
      reader.Skip();
      continue;
    }
    WireReader type = reader.Message(OnnxMessage::kTensorType);
    while (type.Next()) {
      if (type.Is(2, WireType::kBytes)) {
        if (!shape) shape.emplace();
        ReadShape(type.Message(OnnxMessage::kShape), *shape);
      } else {
        type.Skip();
      }
    }
  }
}

uint64_t CountNodes(const OnnxModel& model, const OnnxGraph& graph) {
  uint64_t count = graph.nodes.size();
  for (const OnnxSubgraph& link : graph.node_subgraphs) {
    count += CountNodes(model, model.Subgraph(link));
  }
  return count;
}

}  // namespace

std::string_view OnnxValueKindName(OnnxValueKind kind) {
  switch (kind) {
    case OnnxValueKind::kUntyped:
      return "untyped";
    case OnnxValueKind::kTensor:
      return "tensor";
    case OnnxValueKind::kSparseTensor:
      return "sparse_tensor";
    case OnnxValueKind::kSequence:
      return "sequence";
    case OnnxValueKind::kMap:
      return "map";
    case OnnxValueKind::kOptional:
      return "optional";
    case OnnxValueKind::kOpaque:
      return "opaque";
  }
  return "untyped";
}

TensorInfo ToTensorInfo(const OnnxValue& value) {
  TensorInfo info;
  info.name = std::string(value.name);
  const bool sparse = value.kind == OnnxValueKind::kSparseTensor;
  if (value.kind != OnnxValueKind::kTensor && !sparse) return info;
  info.dtype = value.dtype;
  WireSource source(value.bytes);
  WireReader reader(source, OnnxMessage::kValueInfo, value.bytes);
  while (reader.Next()) {
    if (reader.Is(2, WireType::kBytes)) {
      ReadTypeShape(reader.Message(OnnxMessage::kType), sparse ? 8 : 1, info.shape);
    } else {
      reader.Skip();
    }
  }
  return info;
}

Result<OnnxModel> OnnxModel::Open(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  Result<OnnxModel> model = FromBytes(file->bytes(), file, path);
  // Whatever else is wrong then follows from it.
  VERNIER_TRY(file->CheckIntact());
  if (model.ok()) model->file_ = std::move(file);
  return model;
}

Result<OnnxModel> OnnxModel::FromBytes(std::span<const std::byte> bytes,
                                       std::shared_ptr<const void> owner, std::string path) {
  if (bytes.empty()) return Malformed("'" + path + "' is empty, not an ONNX model");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() > kLargestFile) {
    return WithHint(Malformed("'" + path + "' has " + std::to_string(bytes.size()) +
                              " bytes, but an ONNX file ends at 2 GiB: larger weights must be "
                              "external data"),
                    text);
  }
  WireSource source(text);
  OnnxModel model;
  model.contents_ = ParseOnnxModel(WireReader(source, OnnxMessage::kModel, text));
  if (source.failed()) return WithHint(source.FaultStatus(path), text);
  if (model.contents_.graph_parts == 0) {
    return WithHint(Malformed("'" + path + "' is not an ONNX model: it holds no graph"), text);
  }
  model.path_ = std::move(path);
  model.owner_ = std::move(owner);
  model.bytes_ = text;
  return model;
}

Status OnnxModel::CheckIntact() const { return file_ == nullptr ? Status() : file_->CheckIntact(); }

int64_t OnnxModel::opset() const {
  for (const OnnxOpset& opset : contents_.opsets) {
    if (opset.domain.empty() || opset.domain == "ai.onnx") return opset.version;
  }
  return 0;
}

std::vector<TensorInfo> OnnxModel::RequiredInputs() const {
  const OnnxGraph& graph = contents_.graph;
  const std::unordered_set<std::string_view> defaults = InitializerNames(graph);
  std::vector<TensorInfo> inputs;
  for (const OnnxValue& value : graph.inputs) {
    if (!defaults.contains(value.name)) inputs.push_back(ToTensorInfo(value));
  }
  return inputs;
}

std::vector<TensorInfo> OnnxModel::Outputs() const {
  std::vector<TensorInfo> outputs;
  for (const OnnxValue& value : contents_.graph.outputs) outputs.push_back(ToTensorInfo(value));
  return outputs;
}

std::vector<OnnxAttribute> OnnxModel::Attributes(const OnnxNode& node) const {
  return ParseOnnxAttributes(node.bytes);
}

uint64_t OnnxModel::NodeCount() const { return CountNodes(*this, contents_.graph); }

}  // namespace vernier
