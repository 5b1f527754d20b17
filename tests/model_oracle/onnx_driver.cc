// Answers questions about ONNX files for test_onnx_oracle.py: one JSON object a line in, one out.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/edit/onnx_edit.h"
#include "model/edit/onnx_outputs.h"
#include "model/edit/onnx_save.h"
#include "model/onnx/external_data.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/onnx_order.h"
#include "util/log/recording_logger.h"
#include "util/text/close_matches.h"
#include "util/text/fnmatch.h"

namespace vernier {
namespace {

using Json = nlohmann::json;

Json LinesOf(const RecordingLogger& logger) {
  Json lines = Json::array();
  for (const RecordingLogger::Line& line : logger.lines) {
    lines.push_back({{"severity", static_cast<int>(line.severity)}, {"text", line.text}});
  }
  return lines;
}

Json ErrorOf(const Status& status) {
  return {{"error", status.message()}, {"code", static_cast<int>(status.code())}};
}

Json Strings(std::span<const std::string_view> views) {
  Json list = Json::array();
  for (const std::string_view view : views) list.push_back(std::string(view));
  return list;
}

Json DescribeInfo(const TensorInfo& info) {
  Json shape;
  if (info.shape) {
    shape = Json::array();
    for (const Dim& dim : *info.shape) {
      if (!dim.dynamic()) {
        shape.push_back(dim.value);
      } else {
        shape.push_back(dim.symbol.empty() ? Json(-1) : Json(dim.symbol));
      }
    }
  }
  return {{"name", info.name}, {"dtype", static_cast<int>(info.dtype)}, {"shape", shape}};
}

Json DescribeValues(const std::vector<OnnxValue>& values) {
  Json list = Json::array();
  for (const OnnxValue& value : values) {
    Json entry = DescribeInfo(ToTensorInfo(value));
    entry["kind"] = std::string(OnnxValueKindName(value.kind));
    entry["onnx_type"] = value.onnx_type;
    list.push_back(entry);
  }
  return list;
}

Json DescribeGraph(const OnnxModel& model, const OnnxGraph& graph) {
  Json nodes = Json::array();
  for (const OnnxNode& node : graph.nodes) {
    Json subgraphs = Json::array();
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
      subgraphs.push_back(
          {std::string(link.attribute), DescribeGraph(model, model.Subgraph(link))});
    }
    Json attributes = Json::array();
    for (const OnnxAttribute& attribute : model.Attributes(node)) {
      attributes.push_back({{"name", std::string(attribute.name)},
                            {"type", attribute.type},
                            {"f", attribute.f},
                            {"i", attribute.i},
                            {"s", std::string(attribute.s)},
                            {"ints", attribute.ints},
                            {"floats", attribute.floats},
                            {"strings", Strings(attribute.strings)}});
    }
    nodes.push_back({{"name", std::string(node.name)},
                     {"op_type", std::string(node.op_type)},
                     {"domain", std::string(node.domain)},
                     {"inputs", Strings(graph.Inputs(node))},
                     {"outputs", Strings(graph.Outputs(node))},
                     {"attributes", attributes},
                     {"subgraphs", subgraphs}});
  }
  Json initializers = Json::array();
  for (const OnnxTensor& tensor : graph.initializers) {
    initializers.push_back({{"name", std::string(tensor.name)},
                            {"onnx_type", tensor.onnx_type},
                            {"dims", tensor.dims},
                            {"external", tensor.external},
                            {"raw_size", tensor.raw_data.size()}});
  }
  return {{"name", std::string(graph.name)},
          {"nodes", nodes},
          {"inputs", DescribeValues(graph.inputs)},
          {"outputs", DescribeValues(graph.outputs)},
          {"value_info", DescribeValues(graph.value_info)},
          {"initializers", initializers}};
}

Json Describe(const OnnxModel& model) {
  const OnnxContents& contents = model.contents();
  Json opsets = Json::array(), metadata = Json::array(), required = Json::array();
  for (const OnnxOpset& o : contents.opsets) opsets.push_back({std::string(o.domain), o.version});
  for (const OnnxEntry& e : contents.metadata) {
    metadata.push_back({std::string(e.key), std::string(e.value)});
  }
  for (const TensorInfo& info : model.RequiredInputs()) required.push_back(info.name);
  Json functions = Json::array();
  for (const OnnxFunction& function : contents.functions) {
    functions.push_back({{"name", std::string(function.name)},
                         {"domain", std::string(function.domain)},
                         {"inputs", Strings(function.inputs)},
                         {"outputs", Strings(function.outputs)},
                         {"body", DescribeGraph(model, function.body)["nodes"]}});
  }
  Json answer = {{"ir_version", contents.ir_version},
                 {"producer_name", std::string(contents.producer_name)},
                 {"opsets", opsets},
                 {"metadata", metadata},
                 {"required", required},
                 {"node_count", model.NodeCount()},
                 {"external", model.external_tensors().size()},
                 {"functions", functions},
                 {"graph", DescribeGraph(model, model.graph())}};
  const Result<std::vector<uint32_t>> order = TopologicalOrder(model);
  answer["order"] = order.ok() ? Json(*order) : Json();
  return answer;
}

std::optional<std::vector<std::string>> List(const Json& request, const char* key) {
  if (!request.contains(key) || request[key].is_null()) return std::nullopt;
  return request[key].get<std::vector<std::string>>();
}

ExternalDataOptions ExternalOptions(const Json& request) {
  return {
      .directory = request.value("dir", ""),
      .links = request.value("strict", false) ? LinkPolicy::kRefuse : LinkPolicy::kFollowInside};
}

Json Edit(const OnnxModel& model, const Json& request) {
  RecordingLogger logger;
  const OnnxOutputOptions options{.outputs = List(request, "outputs"),
                                  .by_type = List(request, "by_type"),
                                  .exclude = List(request, "exclude"),
                                  .skips_unknown_types = true};
  const auto names = SelectOnnxOutputs(model, options, logger);
  Json answer = names.ok() ? Json{{"names", Strings(*names)}} : ErrorOf(names.status());
  answer["log"] = LinesOf(logger);
  if (!names.ok() || !request.contains("save")) return answer;
  OutputEdit edit = EditOutputs(model, *names);
  answer["untyped"] = Strings(edit.untyped);
  answer["unranked"] = Strings(edit.unranked);
  SaveOnnxOptions save{.source = ExternalOptions(request), .external_path = std::nullopt};
  if (request.contains("external_path")) save.external_path = request["external_path"];
  save.size_threshold = request.value("threshold", uint64_t{1024});
  save.one_file = request.value("one_file", true);
  const Status status = SaveOnnx(model, std::move(edit.patches), request["save"], save);
  if (!status.ok()) answer["error"] = status.message();
  return answer;
}

Json External(const OnnxModel& model, const Json& request) {
  const Result<ExternalDataReport> report = CheckExternalData(model, ExternalOptions(request));
  if (!report.ok()) return ErrorOf(report.status());
  Json files = Json::array();
  for (const ExternalFileInfo& file : report->files) {
    files.push_back({{"location", file.location}, {"path", file.path}, {"size", file.size}});
  }
  return {{"files", files}, {"total", report->total_bytes}};
}

Json AcceptBytes(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const Result<OnnxModel> model = OnnxModel::FromBytes(*owner, owner, "bytes");
  return model.ok() ? Json{{"accepted", true}} : ErrorOf(model.status());
}

Json Answer(const Json& request) {
  const std::string op = request["op"];
  if (op == "fnmatch") {
    Json matches = Json::array();
    for (const Json& pair : request["pairs"]) {
      matches.push_back(MatchesPattern(pair[0].get<std::string>(), pair[1].get<std::string>()));
    }
    return matches;
  }
  if (op == "close") {
    const auto words = request["candidates"].get<std::vector<std::string>>();
    const std::vector<std::string_view> views(words.begin(), words.end());
    return CloseMatches(request["word"].get<std::string>(), views);
  }
  if (op == "type") {
    const ModelPath path = SplitModelPath(request["path"].get<std::string>());
    const Result<ModelType> type =
        InferModelType(path.path, {.given = std::nullopt,
                                   .checkpoint_given = false,
                                   .tensorflow_runner = request.value("tf", false)});
    return {{"path", path.path},
            {"extra", path.extra},
            {"type", type.ok() ? Json(std::string(ModelTypeName(*type))) : Json()}};
  }
  if (op == "accept") return AcceptBytes(request["hex"]);
  const Result<OnnxModel> model = OnnxModel::Open(request["path"]);
  if (!model.ok()) return ErrorOf(model.status());
  if (op == "info") return Describe(*model);
  if (op == "edit") return Edit(*model, request);
  if (op == "external") return External(*model, request);
  return {{"error", "unknown op"}};
}

}  // namespace
}  // namespace vernier

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const nlohmann::json answer = vernier::Answer(nlohmann::json::parse(line));
    // Names in hostile files need not be UTF-8.
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
