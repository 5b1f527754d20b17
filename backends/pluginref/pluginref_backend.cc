// A CPU reference of TensorRT's plug-ins and of operators that they stand for: ONNX graphs of these
// nodes, computed by their definitions. It needs no framework.
#include <chrono>
#include <fstream>
#include <iterator>

#include "operators.h"
#include "vernier/backend_sdk.hpp"

namespace vernier {
namespace {

using pluginref::Array;
using pluginref::Graph;
using pluginref::Node;

sdk::TensorSpec SpecOf(const pluginref::Value& value) {
  sdk::TensorSpec spec{value.name, value.dtype, value.dims.has_value(), {}, {}};
  if (value.dims) spec.shape = *value.dims;
  return spec;
}

class ReferenceSession final : public sdk::Session {
 public:
  explicit ReferenceSession(Graph graph) : graph_(std::move(graph)) {
    for (const pluginref::Value& value : graph_.inputs) inputs_.push_back(SpecOf(value));
    for (const pluginref::Value& value : graph_.outputs) outputs_.push_back(SpecOf(value));
  }

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override { return {"as in the model", "CPU"}; }

  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> feed) override {
    std::map<std::string, Array> known = graph_.constants;
    VERNIER_TRY(TakeFeed(feed, known));
    const auto start = std::chrono::steady_clock::now();
    for (const Node& node : graph_.nodes) VERNIER_TRY(RunNode(node, known));
    sdk::RunOutcome outcome;
    outcome.inference_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const sdk::TensorSpec& spec : outputs_) {
      const auto found = known.find(spec.name);
      if (found == known.end()) {
        return Malformed("output '" + spec.name + "' is the output of no node");
      }
      outcome.outputs.push_back(ToOutput(spec.name, found->second));
    }
    return outcome;
  }

 private:
  static sdk::OutputTensor ToOutput(const std::string& name, const Array& array) {
    sdk::OutputTensor output;
    output.name = name;
    output.dtype = array.dtype;
    output.shape = array.dims;
    output.data = array.bytes->data();
    output.byte_size = array.bytes->size();
    output.keep_alive = array.bytes;
    return output;
  }

  Status TakeFeed(std::span<const vn_tensor* const> feed, std::map<std::string, Array>& known) {
    for (const sdk::TensorSpec& spec : inputs_) {
      const auto given = std::find_if(feed.begin(), feed.end(), [&](const vn_tensor* t) {
        return sdk::View(t->name) == spec.name;
      });
      if (given == feed.end()) return Malformed("input '" + spec.name + "' is missing");
      const vn_tensor& t = **given;
      const pluginref::Dims dims(t.shape, t.shape + t.rank);
      const DType dtype = FromAbi(t.dtype_code, t.dtype_bits).value_or(DType::kUndefined);
      if (dtype != spec.dtype || !Fits(dims, spec)) {
        return Malformed("input '" + spec.name + "' is " + std::string(DTypeName(dtype)) + " " +
                         pluginref::ShapeText(dims) + "; the model declares " +
                         std::string(DTypeName(spec.dtype)) + " " +
                         (spec.rank_known ? pluginref::ShapeText(spec.shape) : "of any shape"));
      }
      const auto* first = static_cast<const std::byte*>(t.data);
      known[spec.name] = {dtype, dims,
                          std::make_shared<const pluginref::Bytes>(first, first + t.byte_size)};
    }
    return {};
  }

  static bool Fits(const pluginref::Dims& dims, const sdk::TensorSpec& spec) {
    if (!spec.rank_known) return true;
    return std::equal(
        dims.begin(), dims.end(), spec.shape.begin(), spec.shape.end(),
        [](int64_t size, int64_t declared) { return declared < 0 || size == declared; });
  }

  Status RunNode(const Node& node, std::map<std::string, Array>& known) {
    std::vector<const Array*> inputs;
    for (const std::string& name : node.inputs) {
      const auto found = known.find(name);
      if (found == known.end() && !name.empty()) {
        return Malformed(node.Title() + ": its input '" + name + "' is made by no earlier node");
      }
      inputs.push_back(name.empty() ? nullptr : &found->second);
    }
    VERNIER_ASSIGN_OR_RETURN(
        pluginref::Outputs outputs,
        pluginref::FindOperator(node.op)(pluginref::Call(node, std::move(inputs), graph_.opset)));
    if (node.outputs.size() > outputs.size()) {
      return Malformed(node.Title() + ": names " + std::to_string(node.outputs.size()) +
                       " outputs, and the operator has " + std::to_string(outputs.size()));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) known[node.outputs[i]] = std::move(outputs[i]);
    }
    return {};
  }

  Graph graph_;
  std::vector<sdk::TensorSpec> inputs_, outputs_;
};

class ReferenceBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";

  static std::span<const vn_option_info> OptionTable() { return {}; }
  static Result<std::unique_ptr<ReferenceBackend>> Create(const sdk::Host&, sdk::Options) {
    return std::make_unique<ReferenceBackend>();
  }

  std::string_view framework_version() const { return "built in"; }
  std::string_view framework_path() const { return ""; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options) {
    const std::string path(sdk::View(model.path));
    std::string folder(sdk::View(model.external_data_dir));
    if (folder.empty()) folder = path.substr(0, path.rfind('/') + 1);
    if (folder.empty()) folder = ".";
    std::string file;
    std::string_view bytes(static_cast<const char*>(model.bytes), model.byte_count);
    if (model.bytes == nullptr) {
      std::ifstream in(path, std::ios::binary);
      file.assign(std::istreambuf_iterator<char>(in), {});
      if (!in) return Malformed("'" + path + "' cannot be read");
      bytes = file;
    }
    Result<Graph> graph = pluginref::ReadGraph(bytes, folder);
    if (!graph.ok()) return std::move(graph).Annotate("'" + path + "'").status();
    for (const Node& node : graph->nodes) {
      if (pluginref::FindOperator(node.op) != nullptr) continue;
      return Unimplemented(node.Title() + ": operator '" + node.op +
                           "' has no reference here; there are " + pluginref::OperatorNames());
    }
    return std::unique_ptr<sdk::Session>(std::make_unique<ReferenceSession>(*std::move(graph)));
  }
};

}  // namespace
}  // namespace vernier

VERNIER_EXPORT_BACKEND(vernier::ReferenceBackend)
