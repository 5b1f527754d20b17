#include "input_shapes.h"

#include <algorithm>
#include <charconv>

#include "onnx_fields.h"
#include "proto_bytes.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ov {
namespace {

using tf::ProtoField;
using tf::ProtoReader;
using tf::ProtoWriter;

std::string ShapeMessage(std::string_view before, const std::vector<int64_t>& dims) {
  std::vector<std::string_view> named = tf::AllFieldBytes(before, kShapeDim);
  named.resize(dims.size());
  ProtoWriter shape;
  for (size_t i = 0; i < dims.size(); ++i) {
    // A free dimension keeps its name, which other inputs may share.
    const bool fixed = tf::FieldNumber(named[i], kDimValue) != 0;
    ProtoWriter dim;
    if (dims[i] >= 0) {
      dim.Number(kDimValue, static_cast<uint64_t>(dims[i]));
    } else if (!fixed) {
      dim.Raw(named[i]);
    }
    shape.Bytes(kShapeDim, dim.bytes());
  }
  return shape.bytes();
}

std::string InputMessage(std::string_view input, const std::vector<int64_t>& dims) {
  const std::string_view type = tf::FieldBytes(input, kValueType);
  const std::string_view tensor = tf::FieldBytes(type, kTypeTensor);
  if (tensor.empty()) return std::string(input);  // a sequence, say
  const auto replaced = [](std::string_view message, uint32_t id, std::string_view with) {
    ProtoWriter copy;
    ProtoReader reader(message);
    while (const std::optional<ProtoField> field = reader.Next()) {
      if (field->id != id) copy.Raw(field->whole);
    }
    copy.Bytes(id, with);
    return copy.bytes();
  };
  const std::string shape = ShapeMessage(tf::FieldBytes(tensor, kTensorShape), dims);
  return replaced(input, kValueType,
                  replaced(type, kTypeTensor, replaced(tensor, kTensorShape, shape)));
}

Result<std::string> GraphMessage(std::string_view graph, const InputShapes& shapes) {
  ProtoWriter copy;
  ProtoReader reader(graph);
  while (const std::optional<ProtoField> field = reader.Next()) {
    const bool is_input = field->id == kGraphInput && field->wire_type == kLengthDelimited;
    const auto found =
        is_input ? shapes.find(tf::FieldBytes(field->bytes, kValueName)) : shapes.end();
    if (found == shapes.end()) {
      copy.Raw(field->whole);
    } else {
      copy.Bytes(kGraphInput, InputMessage(field->bytes, found->second));
    }
  }
  if (!reader.ok()) return Malformed("the model's graph is cut short");
  return copy.bytes();
}

}  // namespace

InputShapes ShapesOf(std::span<const vn_tensor* const> feed) {
  InputShapes shapes;
  for (const vn_tensor* tensor : feed) {
    std::vector<int64_t>& dims = shapes[std::string(sdk::View(tensor->name))];
    if (tensor->rank > 0) dims.assign(tensor->shape, tensor->shape + tensor->rank);
  }
  return shapes;
}

InputShapes FreeWhereTheyDiffer(const InputShapes& a, const InputShapes& b) {
  InputShapes common;
  for (const auto& [name, dims] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.size() != dims.size()) continue;
    std::vector<int64_t>& merged = common[name] = dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != other->second[i]) merged[i] = -1;
    }
  }
  return common;
}

bool Admit(const InputShapes& shapes, const InputShapes& feed) {
  return std::all_of(shapes.begin(), shapes.end(), [&](const auto& shape) {
    const auto fed = feed.find(shape.first);
    return fed == feed.end() ||
           std::equal(shape.second.begin(), shape.second.end(), fed->second.begin(),
                      fed->second.end(), [](int64_t a, int64_t b) { return a < 0 || a == b; });
  });
}

std::string Describe(const InputShapes& shapes) {
  std::string text;
  for (const auto& [name, dims] : shapes) {
    text += (text.empty() ? "" : ", ") + name + ":[";
    for (size_t i = 0; i < dims.size(); ++i) {
      text += (i > 0 ? "," : "") + (dims[i] < 0 ? "?" : std::to_string(dims[i]));
    }
    text += "]";
  }
  return text;
}

InputShapes ParseInputShapes(std::string_view text) {
  InputShapes shapes;
  while (!text.empty()) {
    const size_t end = std::min(text.find("];"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    const size_t bracket = word.rfind(":[");
    if (bracket == std::string_view::npos) continue;
    std::vector<int64_t>& dims = shapes[std::string(word.substr(0, bracket))];
    const char* at = word.data() + bracket + 2;
    const char* const stop = word.data() + word.size();
    int64_t size = 0;
    while (at < stop) {
      const auto [next, error] = std::from_chars(at, stop, size);
      if (error != std::errc()) break;
      dims.push_back(size);
      at = next < stop && *next == ',' ? next + 1 : stop;
    }
  }
  return shapes;
}

Result<std::string> WriteInputShapes(std::string_view model, const InputShapes& shapes) {
  ProtoWriter copy;
  ProtoReader reader(model);
  bool has_graph = false;
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (field->id == kModelGraph && field->wire_type == kLengthDelimited) {
      VERNIER_ASSIGN_OR_RETURN(const std::string graph, GraphMessage(field->bytes, shapes));
      copy.Bytes(kModelGraph, graph);
      has_graph = true;
    } else {
      copy.Raw(field->whole);
    }
  }
  if (!reader.ok() || !has_graph) return Malformed("not an ONNX model");
  return copy.bytes();
}

}  // namespace vernier::ov
