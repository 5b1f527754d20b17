#include "blame/graph/fused_tensors.h"

#include <algorithm>

#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

// ONNX Runtime writes the weights along with its graph.
constexpr uint64_t kLargestSaved = uint64_t{1} << 30;

// What kernels of sums and of other operators take along.
constexpr std::string_view kElementwise[] = {"Abs",
                                             "Add",
                                             "BatchNormalization",
                                             "Clip",
                                             "DequantizeLinear",
                                             "Div",
                                             "Elu",
                                             "Erf",
                                             "Exp",
                                             "Gelu",
                                             "HardSigmoid",
                                             "HardSwish",
                                             "LeakyRelu",
                                             "Log",
                                             "Mish",
                                             "Mul",
                                             "Neg",
                                             "PRelu",
                                             "Pow",
                                             "QuantizeLinear",
                                             "Relu",
                                             "Selu",
                                             "Sigmoid",
                                             "Softplus",
                                             "Sqrt",
                                             "Sub",
                                             "Swish",
                                             "Tanh"};
constexpr std::string_view kSums[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};

template <size_t n>
bool IsOneOf(std::string_view word, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Who makes and who reads the tensors of the main graph.
class Flow {
 public:
  explicit Flow(const BlameGraph& graph) : graph_(graph) {
    for (const uint32_t index : graph.order()) {
      const OnnxNode& node = graph.graph().nodes[index];
      for (const std::string_view name : graph.graph().Outputs(node)) {
        if (!name.empty()) producers_.emplace(name, index);
      }
      for (const std::string_view name : ValuesReadBy(graph.model(), graph.graph(), node)) {
        readers_[name].push_back(index);
      }
    }
    for (const OnnxValue& output : graph.graph().outputs) results_.insert(output.name);
  }

  const OnnxNode& Node(uint32_t index) const { return graph_.graph().nodes[index]; }
  std::span<const std::string_view> Inputs(uint32_t index) const {
    return graph_.graph().Inputs(Node(index));
  }
  bool IsResult(std::string_view name) const { return results_.contains(name); }

  std::optional<uint32_t> Producer(std::string_view name) const {
    const auto found = producers_.find(name);
    return found == producers_.end() ? std::nullopt : std::optional(found->second);
  }

  std::span<const uint32_t> Readers(std::string_view name) const {
    const auto found = readers_.find(name);
    return found == readers_.end() ? std::span<const uint32_t>() : found->second;
  }

  // Its only output; empty when there are several.
  std::string_view OutputOf(uint32_t index) const {
    const auto outputs = graph_.graph().Outputs(Node(index));
    return outputs.size() == 1 ? outputs[0] : std::string_view();
  }

  // The node that alone reads a tensor, which is none of the model's outputs.
  std::optional<uint32_t> OnlyReader(std::string_view name) const {
    const auto readers = Readers(name);
    if (readers.size() != 1 || IsResult(name)) return std::nullopt;
    return readers[0];
  }

 private:
  const BlameGraph& graph_;
  std::unordered_map<std::string_view, uint32_t> producers_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> readers_;
  NameSet results_;
};

// Where ONNX Runtime computes in a longer type, tensors have this before their names.
std::string_view WithoutCast(std::string_view name) {
  constexpr std::string_view kCast = "InsertedPrecisionFreeCast_";
  if (name.starts_with(kCast)) name.remove_prefix(kCast.size());
  return name;
}

// "t5_nchwc" and "t5_nchwc_token_2" stand for t5.
std::string_view WithoutLayout(std::string_view name) {
  const size_t at = name.rfind("_nchwc");
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

// "a + PWN(b, c)": a, b and c.
std::vector<std::string_view> NamesIn(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const size_t plus = std::min(list.find(" + "), list.size());
    const size_t comma = std::min(list.find(", "), list.size());
    const size_t end = std::min(plus, comma);
    std::string_view name = list.substr(0, end);
    constexpr std::string_view kPointwise = "PWN(";
    while (name.starts_with(kPointwise)) name.remove_prefix(kPointwise.size());
    names.push_back(name);
    while (name.ends_with(')')) names.push_back(name = name.substr(0, name.size() - 1));
    list.remove_prefix(std::min(end + (end == plus ? 3 : 2), list.size()));
  }
  return names;
}

// Which of the nodes each kernel is made of, as far as their names are listed: of a node that is in
// several, the last.
class KernelLists {
 public:
  KernelLists(std::span<const LayerTime> kernels, const BlameGraph& graph, const Flow& flow)
      : graph_(graph), flow_(flow) {
    std::unordered_map<std::string_view, uint32_t> nodes;
    for (const uint32_t index : graph.order()) {
      const OnnxNode& node = flow.Node(index);
      if (!node.name.empty()) nodes.emplace(node.name, index);
      for (const std::string_view name : graph.graph().Outputs(node)) nodes.emplace(name, index);
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      for (std::string_view name : NamesIn(kernels[i].name)) {
        constexpr std::string_view kWithoutBias = "/WithoutBiases";
        if (name.ends_with(kWithoutBias)) name.remove_suffix(kWithoutBias.size());
        if (const auto found = nodes.find(name); found != nodes.end())
          kernel_of_[found->second] = i;
      }
    }
    std::unordered_map<size_t, size_t> places;
    for (const uint32_t index : graph.order()) {
      const auto found = kernel_of_.find(index);
      if (found == kernel_of_.end()) continue;
      const auto [place, added] = places.emplace(found->second, kernels_.size());
      if (added) kernels_.push_back({kernels[found->second].kind, {}});
      kernels_[place->second].members.push_back(index);
    }
  }

  bool Has(uint32_t index) const { return kernel_of_.contains(index); }

  struct Kernel {
    std::string_view kind;
    std::vector<uint32_t> members;
  };
  /// Those with members, both in the order of nodes: who takes what must not depend on how long
  /// each took.
  const std::vector<Kernel>& kernels() const { return kernels_; }

  /// Tensors that nodes of one kernel hand to each other alone.
  NameSet Inner() const {
    NameSet inner;
    for (const auto& [index, kernel] : kernel_of_) {
      const std::string_view name = flow_.OutputOf(index);
      const auto readers = flow_.Readers(name);
      const bool counts = !name.empty() && !flow_.IsResult(name) && !graph_.IsConstant(name);
      if (!counts || readers.empty()) continue;
      // Clang before 16 captures no structured bindings.
      const auto in_kernel = [&, kernel = kernel](uint32_t reader) {
        const auto found = kernel_of_.find(reader);
        return found != kernel_of_.end() && found->second == kernel;
      };
      const bool stays = std::all_of(readers.begin(), readers.end(), in_kernel);
      if (stays) inner.insert(name);
    }
    return inner;
  }

 private:
  const BlameGraph& graph_;
  const Flow& flow_;
  std::unordered_map<uint32_t, size_t> kernel_of_;
  std::vector<Kernel> kernels_;
};

// Fusions that the names of kernels show, and what joins them by its operators although no list
// has it.
class KernelReader {
 public:
  KernelReader(std::span<const LayerTime> kernels, const BlameGraph& graph)
      : graph_(graph), flow_(graph), lists_(kernels, graph, flow_) {}

  NameSet Read() {
    gone_ = lists_.Inner();
    for (const KernelLists::Kernel& kernel : lists_.kernels()) GoBack(kernel.members);
    for (const KernelLists::Kernel& kernel : lists_.kernels()) {
      if (kernel.kind == "Subgraph") continue;
      for (const uint32_t member : kernel.members) GoOn(member);
    }
    return std::move(gone_);
  }

 private:
  bool Free(uint32_t index) const { return !lists_.Has(index) && !taken_.contains(index); }

  void Take(uint32_t index, std::string_view inner) {
    taken_.insert(index);
    gone_.insert(inner);
  }

  // A kernel that has the names of its last nodes.
  void GoBack(std::vector<uint32_t> members) {
    for (size_t i = 0; i < members.size(); ++i) {
      if (!lists_.Has(members[i]) || IsOneOf(flow_.Node(members[i]).op_type, kElementwise)) {
        TakeProducers(i, members);
      }
    }
  }

  void TakeProducers(size_t place, std::vector<uint32_t>& members) {
    for (const std::string_view name : flow_.Inputs(members[place])) {
      const auto producer = flow_.Producer(name);
      if (!producer || !Free(*producer) || !JoinsBackwards(*producer, name, members)) continue;
      members.push_back(*producer);
      Take(*producer, name);
    }
  }

  bool JoinsBackwards(uint32_t index, std::string_view name,
                      const std::vector<uint32_t>& members) const {
    const std::string_view op = flow_.Node(index).op_type;
    if (!IsOneOf(op, kElementwise) && !IsOneOf(op, kSums)) return false;
    if (flow_.IsResult(name) || flow_.OutputOf(index) != name || graph_.IsConstant(name)) {
      return false;
    }
    const auto readers = flow_.Readers(name);
    return std::all_of(readers.begin(), readers.end(), [&](uint32_t reader) {
      return std::find(members.begin(), members.end(), reader) != members.end();
    });
  }

  // A kernel that has the names of its first nodes.
  void GoOn(uint32_t first) {
    std::string_view name = flow_.OutputOf(first);
    while (!name.empty()) {
      const auto reader = flow_.OnlyReader(name);
      if (!reader || !Free(*reader) || flow_.OutputOf(*reader).empty()) return;
      if (!IsOneOf(flow_.Node(*reader).op_type, kElementwise)) return;
      Take(*reader, name);
      name = flow_.OutputOf(*reader);
    }
  }

  const BlameGraph& graph_;
  const Flow flow_;
  const KernelLists lists_;
  std::unordered_set<uint32_t> taken_;
  NameSet gone_;
};

// With its weights, wherever they lie.
uint64_t BytesOf(const OnnxModel& model) {
  uint64_t bytes = model.bytes().size();
  for (const OnnxTensor& tensor : model.external_tensors()) {
    const auto count = ElementCount(tensor.dims);
    const auto size = count ? ByteSize(tensor.dtype, static_cast<uint64_t>(*count)) : std::nullopt;
    bytes += size.value_or(kLargestSaved);
  }
  return bytes;
}

}  // namespace

NameSet FusedAwayIn(const OnnxModel& optimised, const BlameGraph& graph) {
  const Flow flow(graph);
  NameSet left, starts;
  for (const OnnxNode& node : optimised.graph().nodes) {
    for (const std::string_view name : optimised.graph().Outputs(node)) {
      left.insert(WithoutCast(name));
    }
    const std::string_view stands_for = WithoutCast(WithoutLayout(node.name));
    if (graph.IsMade(stands_for)) starts.insert(stands_for);
  }
  std::erase_if(starts, [&](std::string_view name) { return left.contains(name); });
  // Such a node has the name of the first tensor and makes the last of a chain, which ends before
  // the next one begins.
  NameSet ends;
  for (std::string_view name : starts) {
    for (auto reader = flow.OnlyReader(name); reader; reader = flow.OnlyReader(name)) {
      const std::string_view next = flow.OutputOf(*reader);
      if (next.empty() || left.contains(next) || starts.contains(next)) break;
      name = next;
    }
    ends.insert(name);
  }
  left.merge(ends);
  NameSet gone;
  for (const uint32_t index : graph.order()) {
    for (const std::string_view name : graph.graph().Outputs(graph.graph().nodes[index])) {
      const bool stays = name.empty() || left.contains(name) || graph.IsConstant(name);
      if (!stays && !flow.IsResult(name)) gone.insert(name);
    }
  }
  return gone;
}

NameSet FusedAwayByKernels(std::span<const LayerTime> kernels, const BlameGraph& graph) {
  return KernelReader(kernels, graph).Read();
}

NameSet FusedAwayByLists(std::span<const LayerTime> kernels, const BlameGraph& graph) {
  const Flow flow(graph);
  return KernelLists(kernels, graph, flow).Inner();
}

std::vector<LayerIsland> FindFusedIslands(const BlameGraph& graph, std::span<const Island> islands,
                                          const NameSet& visible, const NameSet& disputed,
                                          const NameSet& fused_away) {
  std::vector<LayerIsland> found;
  if (fused_away.empty()) return found;
  NameSet left = visible;
  for (const std::string_view name : fused_away) left.erase(name);
  for (size_t i = 0; i < islands.size(); ++i) {
    const auto& outputs = islands[i].outputs;
    const bool ends_kernel = std::none_of(outputs.begin(), outputs.end(),
                                          [&](auto name) { return fused_away.contains(name); });
    if (!ends_kernel || outputs.empty()) continue;
    std::vector<Island> whole =
        graph.Islands(std::span(&islands[i].nodes.back(), 1), left, disputed);
    if (whole[0].nodes.size() <= islands[i].nodes.size()) continue;
    found.push_back({i, std::move(whole[0])});
  }
  return found;
}

namespace {

// Where there is room, a runtime that says nothing has fused nothing.
Result<NameSet> NoFusionAnswer() {
  std::string fault = TemporarySpaceFault();
  if (fault.empty()) return NameSet();
  return IoError(std::move(fault));
}

}  // namespace

struct FusionQuestion::Way {
  OptionRole role;
  uint64_t largest_model;
  Result<NameSet> (*read)(const std::string& path, const BlameGraph& graph);
};

Result<std::optional<FusionQuestion>> FusionQuestion::Make(const BackendInfo& backend,
                                                           const OnnxModel& model) {
  static constexpr Way kWays[] = {
      {OptionRole::kOptimizedModel, kLargestSaved,
       [](const std::string& path, const BlameGraph& graph) -> Result<NameSet> {
         const Result<OnnxModel> optimised = OnnxModel::Open(path);
         return optimised.ok() ? FusedAwayIn(*optimised, graph) : NoFusionAnswer();
       }},
      {OptionRole::kLayerNames, UINT64_MAX,
       [](const std::string& path, const BlameGraph& graph) -> Result<NameSet> {
         const std::vector<LayerTime> kernels = ReadLayerTimes(path);
         return kernels.empty() ? NoFusionAnswer() : FusedAwayByKernels(kernels, graph);
       }},
      {OptionRole::kLayerNodes, UINT64_MAX,
       [](const std::string& path, const BlameGraph& graph) -> Result<NameSet> {
         const std::vector<LayerTime> kernels = ReadLayerTimes(path);
         return kernels.empty() ? NoFusionAnswer() : FusedAwayByLists(kernels, graph);
       }},
  };
  for (const Way& way : kWays) {
    const BackendOption* const option = backend.OptionFor(way.role);
    if (option == nullptr || BytesOf(model) > way.largest_model) continue;
    VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
    return std::optional(FusionQuestion(way, option->name, std::move(folder)));
  }
  return std::optional<FusionQuestion>();
}

std::string FusionQuestion::path() const { return folder_.path() + "/fusions"; }

OptionList FusionQuestion::options() const { return {{option_, path()}}; }

Result<NameSet> FusionQuestion::FusedAway(const BlameGraph& graph) const {
  return way_->read(path(), graph);
}

}  // namespace vernier
