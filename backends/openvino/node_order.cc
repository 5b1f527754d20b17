#include "node_order.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx_fields.h"
#include "proto_bytes.h"

namespace vernier::ov {
namespace {

using tf::ProtoField;
using tf::ProtoReader;
using tf::ProtoWriter;

bool Holds(const ProtoField& field, uint32_t id) {
  return field.id == id && field.wire_type == kLengthDelimited;
}

// What a node reads, its branches and bodies included. Names that those make are not made outside.
void AddReads(std::string_view node, std::vector<std::string_view>& reads) {
  ProtoReader reader(node);
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (Holds(*field, kNodeInput)) reads.push_back(field->bytes);
    if (!Holds(*field, kNodeAttribute)) continue;
    for (const uint32_t id : {kAttributeGraph, kAttributeGraphs}) {
      for (const std::string_view body : tf::AllFieldBytes(field->bytes, id)) {
        for (const std::string_view inner : tf::AllFieldBytes(body, kGraphNode)) {
          AddReads(inner, reads);
        }
      }
    }
  }
}

// Which nodes wait for others, by their places.
struct Waiting {
  std::vector<size_t> open;                  // for how many
  std::vector<std::vector<size_t>> readers;  // of a node
  bool in_order = true;
};

Waiting WaitingOf(const std::vector<std::string_view>& nodes) {
  Waiting waiting{std::vector<size_t>(nodes.size()),
                  std::vector<std::vector<size_t>>(nodes.size())};
  std::unordered_map<std::string_view, size_t> makers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : tf::AllFieldBytes(nodes[i], kNodeOutput)) makers[name] = i;
  }
  makers.erase("");  // an output that is left out
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string_view> reads;
    AddReads(nodes[i], reads);
    std::unordered_set<size_t> before;
    for (const std::string_view name : reads) {
      const auto maker = makers.find(name);
      if (maker != makers.end() && maker->second != i) before.insert(maker->second);
    }
    waiting.open[i] = before.size();
    for (const size_t maker : before) {
      waiting.readers[maker].push_back(i);
      waiting.in_order &= maker < i;
    }
  }
  return waiting;
}

// Fewer than all where nodes wait for each other.
std::vector<size_t> Sorted(Waiting waiting) {
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < waiting.open.size(); ++i) {
    if (waiting.open[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const size_t reader : waiting.readers[node]) {
      if (--waiting.open[reader] == 0) ready.push(reader);
    }
  }
  return order;
}

// The message with `with` in place of all its fields `id`, where the first of them is.
std::string WithFields(std::string_view message, uint32_t id, std::string_view with) {
  ProtoWriter copy;
  ProtoReader reader(message);
  bool written = false;
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (!Holds(*field, id)) {
      copy.Raw(field->whole);
    } else if (!std::exchange(written, true)) {
      copy.Raw(with);
    }
  }
  return copy.bytes();
}

std::optional<std::string> GraphInOrder(std::string_view graph);

bool IsBody(const ProtoField& field) {
  return Holds(field, kAttributeGraph) || Holds(field, kAttributeGraphs);
}

// The attribute with the nodes of its graphs in order. nullopt: it may stay as it is.
std::optional<std::string> AttributeInOrder(std::string_view attribute) {
  ProtoWriter copy;
  bool changed = false;
  ProtoReader reader(attribute);
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (!IsBody(*field)) {
      copy.Raw(field->whole);
      continue;
    }
    const std::optional<std::string> sorted = GraphInOrder(field->bytes);
    copy.Bytes(field->id, sorted ? std::string_view(*sorted) : field->bytes);
    changed |= sorted.has_value();
  }
  return changed ? std::optional(copy.bytes()) : std::nullopt;
}

bool HasBodies(std::string_view node) {
  for (const std::string_view attribute : tf::AllFieldBytes(node, kNodeAttribute)) {
    ProtoReader reader(attribute);
    while (const std::optional<ProtoField> field = reader.Next()) {
      if (IsBody(*field)) return true;
    }
  }
  return false;
}

// The same of a node, whose branches and bodies are graphs.
std::optional<std::string> NodeInOrder(std::string_view node) {
  if (!HasBodies(node)) return std::nullopt;
  ProtoWriter copy;
  bool changed = false;
  ProtoReader reader(node);
  while (const std::optional<ProtoField> field = reader.Next()) {
    const std::optional<std::string> sorted =
        Holds(*field, kNodeAttribute) ? AttributeInOrder(field->bytes) : std::nullopt;
    if (sorted) {
      copy.Bytes(kNodeAttribute, *sorted);
    } else {
      copy.Raw(field->whole);
    }
    changed |= sorted.has_value();
  }
  return changed ? std::optional(copy.bytes()) : std::nullopt;
}

// Where nodes wait for each other, they stay as they are.
std::optional<std::string> GraphInOrder(std::string_view graph) {
  const std::vector<std::string_view> nodes = tf::AllFieldBytes(graph, kGraphNode);
  Waiting waiting = WaitingOf(nodes);
  bool changed = !waiting.in_order;
  const std::vector<size_t> order = Sorted(std::move(waiting));
  if (order.size() < nodes.size()) return std::nullopt;
  ProtoWriter sorted;
  for (const size_t node : order) {
    const std::optional<std::string> inner = NodeInOrder(nodes[node]);
    sorted.Bytes(kGraphNode, inner ? std::string_view(*inner) : nodes[node]);
    changed |= inner.has_value();
  }
  if (!changed) return std::nullopt;
  return WithFields(graph, kGraphNode, sorted.bytes());
}

}  // namespace

std::optional<std::string> WithNodesInOrder(std::string_view model) {
  const std::optional<std::string> graph = GraphInOrder(tf::FieldBytes(model, kModelGraph));
  if (!graph) return std::nullopt;
  ProtoWriter whole;
  whole.Bytes(kModelGraph, *graph);
  return WithFields(model, kModelGraph, whole.bytes());
}

}  // namespace vernier::ov
