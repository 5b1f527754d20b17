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

}  // namespace

std::optional<std::string> WithNodesInOrder(std::string_view model) {
  const std::string_view graph = tf::FieldBytes(model, kModelGraph);
  const std::vector<std::string_view> nodes = tf::AllFieldBytes(graph, kGraphNode);
  Waiting waiting = WaitingOf(nodes);
  if (waiting.in_order) return std::nullopt;
  const std::vector<size_t> order = Sorted(std::move(waiting));
  if (order.size() < nodes.size()) return std::nullopt;
  ProtoWriter sorted;
  for (const size_t node : order) sorted.Bytes(kGraphNode, nodes[node]);
  ProtoWriter whole;
  whole.Bytes(kModelGraph, WithFields(graph, kGraphNode, sorted.bytes()));
  return WithFields(model, kModelGraph, whole.bytes());
}

}  // namespace vernier::ov
