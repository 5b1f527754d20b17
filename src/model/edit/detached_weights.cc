#include "model/edit/detached_weights.h"

#include <charconv>
#include <random>

#include "model/edit/onnx_save.h"
#include "model/onnx/wire_patch.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr uint64_t kSmall = 1024;

// A name that no model can have known.
std::string NewPrefix() {
  std::random_device random;
  std::string prefix = "vernier-detached";
  for (int i = 0; i < 4; ++i) prefix += "-" + std::to_string(random());
  return prefix + ":";
}

std::optional<uint64_t> ParseWhole(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status Empty(const OnnxModel& model, const std::string& prefix, std::vector<WirePatch>& patches) {
  const auto visit = [&](const OnnxGraph& graph) -> Status {
    for (const OnnxTensor& tensor : graph.initializers) {
      if (tensor.external || tensor.split || tensor.raw_data.size() < kSmall) continue;
      const auto offset = static_cast<uint64_t>(tensor.raw_data.data() - model.bytes().data());
      const ExternalSlice place{prefix + std::to_string(offset), 0, tensor.raw_data.size()};
      VERNIER_TRY(PatchExternal(tensor, place, patches));
    }
    return {};
  };
  VERNIER_TRY(visit(model.graph()));
  for (const OnnxGraph& graph : model.contents().subgraphs) VERNIER_TRY(visit(graph));
  return {};
}

Status PutIn(const OnnxModel& model, const ExternalDataReport& external,
             std::vector<WirePatch>& patches) {
  for (size_t i = 0; i < external.slices.size(); ++i) {
    if (external.slices[i].size >= kSmall) continue;
    BytePieces values;
    values.AddExternal(external.slices[i]);
    VERNIER_TRY(PatchValues({model.external_tensors()[i], std::move(values)}, patches));
  }
  return {};
}

Status BadPlace(std::string_view name) {
  return BackendError("the weights of tensor " + QuotePython(name) +
                      " were changed by a tool that was given none");
}

}  // namespace

Result<DetachedModel> DetachWeights(const OnnxModel& model, const ExternalDataReport* external,
                                    const ExternalDataOptions& options) {
  DetachedModel detached;
  detached.prefix = NewPrefix();
  std::vector<WirePatch> patches;
  VERNIER_TRY(Empty(model, detached.prefix, patches));
  std::optional<ExternalFolder> folder;
  if (external != nullptr && !external->slices.empty()) {
    VERNIER_ASSIGN_OR_RETURN(ExternalFolder opened, ExternalFolder::Open(model.path(), options));
    folder.emplace(std::move(opened));
    VERNIER_TRY(PutIn(model, *external, patches));
  }
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                           ApplyPatches(model.bytes(), std::move(patches)));
  VERNIER_ASSIGN_OR_RETURN(detached.bytes, ToBytes(pieces, folder ? &*folder : nullptr));
  return detached;
}

Result<std::vector<ReplacedValues>> AttachWeights(const OnnxModel& result,
                                                  const OnnxModel& original,
                                                  const std::string& prefix) {
  std::vector<ReplacedValues> attached;
  for (const OnnxTensor& tensor : result.external_tensors()) {
    if (!tensor.location.starts_with(prefix)) continue;
    const std::optional<uint64_t> offset = ParseWhole(tensor.location.substr(prefix.size()));
    const std::optional<uint64_t> length = ParseWhole(tensor.length);
    const uint64_t size = original.bytes().size();
    if (!offset || !length || *offset > size || *length > size - *offset) {
      return BadPlace(tensor.name);
    }
    BytePieces values;
    values.AddView(original.bytes().substr(*offset, *length));
    attached.push_back({tensor, std::move(values)});
  }
  return attached;
}

}  // namespace vernier
