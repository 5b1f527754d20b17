#include "torchscript_session.h"

#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "module_state.h"
#include "torch_tensor.h"

namespace vernier {
namespace {

// PyTorch's convention: an operator whose name ends in one underscore changes its first argument.
bool WritesInPlace(std::string_view name) {
  return name.size() > 2 && name.back() == '_' && name[name.size() - 2] != '_';
}

// May it write to a tensor, or keep one where it outlives the run: in an attribute of the module,
// or in a list or dictionary there? What is called and cannot be looked into may do both.
bool WritesOrKeeps(const torch::jit::Node& node) {
  namespace prim = torch::jit::prim;
  const c10::Symbol kKinds[] = {prim::SetAttr, prim::CallMethod, prim::CallFunction, prim::fork};
  if (std::find(std::begin(kKinds), std::end(kKinds), node.kind()) != std::end(kKinds)) return true;
  const c10::FunctionSchema* schema = node.maybeSchema();
  return (schema != nullptr && schema->is_mutable()) || WritesInPlace(node.kind().toUnqualString());
}

bool NeedsItsOwnInputs(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (WritesOrKeeps(*node)) return true;
    for (const torch::jit::Block* inner : node->blocks()) {
      if (NeedsItsOwnInputs(*inner)) return true;
    }
  }
  return false;
}

bool NeedsItsOwnInputs(const torch::jit::Module& module) {
  return NeedsItsOwnInputs(*InlinedForward(module)->block());
}

bool CanBeCalledAlone(const torch::jit::Method& method) {
  const std::vector<c10::Argument>& arguments = method.function().getSchema().arguments();
  return std::all_of(arguments.begin() + 1, arguments.end(),
                     [](const c10::Argument& argument) { return argument.default_value(); });
}

// "; its methods are: 'begin', 'forward'", in the order of their names.
std::string OwnMethods(const torch::jit::Module& module) {
  std::set<std::string> names;
  for (const torch::jit::Method& method : module.get_methods()) names.insert(method.name());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return "; its methods are: " + text;
}

bool IsTensor(const c10::TypePtr& type) { return type->kind() == c10::TypeKind::TensorType; }

std::string Named(const c10::TypePtr& type) { return type->str(); }

// The results in one list, nested tuples opened.
void Flatten(const c10::IValue& value, std::vector<at::Tensor>& out) {
  if (value.isTensor()) {
    out.push_back(value.toTensor());
    return;
  }
  for (const c10::IValue& element : value.toTupleRef().elements()) Flatten(element, out);
}

bool CountTensors(const c10::TypePtr& type, size_t& count) {
  if (IsTensor(type)) {
    ++count;
    return true;
  }
  const auto tuple = type->cast<c10::TupleType>();
  if (tuple == nullptr) return false;
  for (const c10::TypePtr& element : tuple->elements()) {
    if (!CountTensors(element, count)) return false;
  }
  return true;
}

// Field names of a NamedTuple of tensors, else none.
OutputNames FieldNames(const c10::TypePtr& type) {
  const auto tuple = type->cast<c10::TupleType>();
  if (tuple == nullptr || !tuple->schema()) return {};
  OutputNames names;
  for (const c10::Argument& field : tuple->schema()->arguments()) {
    if (!IsTensor(field.type())) return {};
    names.push_back(field.name());
  }
  return names;
}

// What the interpreter says of an error in a module is a sentence that fits all, the calls that led
// there, and then the cause: that one comes first here.
std::string CauseFirst(const std::string& text) {
  constexpr std::string_view kLastCall = "<--- HERE\n";
  const size_t call = text.rfind(kLastCall);
  if (call == std::string::npos) return text;
  const std::string cause = text.substr(call + kLastCall.size());
  return cause.substr(0, cause.find('\n')) + "\n" + text;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TorchScriptSession::TorchScriptSession(const sdk::Host& host, LoadModule load)
    : host_(host),
      load_(std::move(load)),
      device_(torch::cuda::is_available() ? at::kCUDA : at::kCPU) {
  Load();
}

void TorchScriptSession::Load() {
  module_ = load_();
  module_.eval();
  module_.to(device_);
}

Result<std::unique_ptr<sdk::Session>> TorchScriptSession::Create(const sdk::Host& host,
                                                                 LoadModule load,
                                                                 const ModuleWords& words) {
  std::unique_ptr<TorchScriptSession> session(new TorchScriptSession(host, std::move(load)));
  if (!session->module_.find_method("forward")) {
    return Malformed("the module has no method 'forward'");
  }
  VERNIER_TRY(session->ReadArguments());
  VERNIER_TRY(session->ReadResults(words.outputs, words.asked));
  VERNIER_TRY(session->FindReset(words.reset));
  session->needs_own_inputs_ = NeedsItsOwnInputs(session->module_);
  return std::unique_ptr<sdk::Session>(std::move(session));
}

Status TorchScriptSession::ReadArguments() {
  const c10::FunctionSchema& schema = module_.get_method("forward").function().getSchema();
  for (const c10::Argument& argument : schema.arguments()) {
    if (&argument == &schema.arguments().front()) continue;  // self
    if (argument.default_value()) continue;
    if (!IsTensor(argument.type())) {
      return Unimplemented("argument '" + argument.name() + "' of the module is " +
                           Named(argument.type()) + ", no Tensor");
    }
    // A TorchScript file says nothing of element types and shapes.
    inputs_.push_back({argument.name(), DType::kUndefined, false, {}, {}});
  }
  return {};
}

Status TorchScriptSession::ReadResults(const OutputNames& names, bool asked) {
  const c10::FunctionSchema& schema = module_.get_method("forward").function().getSchema();
  size_t count = 0;
  for (const c10::Argument& result : schema.returns()) {
    if (CountTensors(result.type(), count)) continue;
    return Unimplemented("the module returns " + Named(result.type()) +
                         ", whose number of tensors only a run shows");
  }
  if (asked && names.size() != count) {
    std::string listed;
    for (const std::string& name : names) listed += (listed.empty() ? "" : ", ") + name;
    return InvalidArgument("--torch-outputs: expected a name for each output: the model returns " +
                           std::to_string(count) + ", and " + std::to_string(names.size()) +
                           " are named (" + listed + ")");
  }
  OutputNames own = names;
  if (own.size() != count && schema.returns().size() == 1) {
    own = FieldNames(schema.returns().front().type());
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string name = own.size() == count ? own[i] : "output_" + std::to_string(i);
    outputs_.push_back({name, DType::kUndefined, false, {}, {}});
  }
  return {};
}

Status TorchScriptSession::FindReset(const std::string& asked) {
  const std::string name = asked.empty() ? "reset_states" : asked;
  const auto method = module_.find_method(name);
  if (method && CanBeCalledAlone(*method)) {
    reset_ = name;
  } else if (!asked.empty()) {
    return InvalidArgument("--reset " + asked + ": the module has no method '" + asked + "'" +
                           (method ? " that needs no arguments" : "") + OwnMethods(module_));
  } else {
    FindState();
  }
  return {};
}

void TorchScriptSession::FindState() {
  const ModuleState state = FindModuleState(module_);
  loads_again_ = state.kept && !state.in_copies;
  if (state.kept && state.in_copies) pristine_ = module_.deepcopy();
  if (state.unseen.empty()) return;
  host_.Warning("the module calls the method '" + state.unseen +
                "' of an interface or of C++, which may keep state: the module is loaded again "
                "before each feed, or each sequence; a method reset_states avoids that");
}

Status TorchScriptSession::Reset() {
  if (reset_.empty() && !pristine_ && !loads_again_) return NotFound("the module keeps no state");
  // The first call is the question behind `open`: the host may want the module as it was opened.
  if (!std::exchange(asked_to_reset_, true)) return {};
  const c10::InferenceMode no_gradients;
  try {
    if (loads_again_) {
      Load();
    } else if (pristine_) {
      module_ = pristine_->deepcopy();
    } else {
      module_.get_method(reset_)({});
    }
  } catch (const c10::Error& error) {
    return BackendError(CauseFirst(error.what_without_backtrace()));
  } catch (const std::runtime_error& error) {
    return BackendError(CauseFirst(error.what()));
  }
  return {};
}

sdk::SessionInfo TorchScriptSession::info() const {
  std::set<std::string_view> types;
  for (const at::Tensor& parameter : module_.parameters()) {
    const std::optional<DType> dtype = FromTorch(parameter.scalar_type());
    if (dtype && Kind(*dtype) == DTypeKind::kFloat) types.insert(DTypeName(*dtype));
  }
  std::string precision;
  for (const std::string_view type : types) {
    precision += (precision.empty() ? "" : "+") + std::string(type);
  }
  return {precision.empty() ? "that of its inputs" : precision, device_.is_cuda() ? "CUDA" : "CPU"};
}

void TorchScriptSession::WarnOfOrder(std::span<const vn_tensor* const> feed) {
  if (std::exchange(warned_of_order_, true)) return;
  std::string pairs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    pairs += (pairs.empty() ? "'" : ", '") + inputs_[i].name + "' is given '" +
             std::string(sdk::View(feed[i]->name)) + "'";
  }
  host_.Warning(
      "the module's inputs have other names than those of the feed and are matched in"
      " order: " +
      pairs);
}

Result<std::vector<c10::IValue>> TorchScriptSession::Arguments(
    std::span<const vn_tensor* const> feed) {
  const auto named = [&](const std::string& name) {
    const auto found = std::find_if(feed.begin(), feed.end(),
                                    [&](const vn_tensor* t) { return sdk::View(t->name) == name; });
    return found == feed.end() ? nullptr : *found;
  };
  const bool by_name = std::all_of(inputs_.begin(), inputs_.end(),
                                   [&](const sdk::TensorSpec& s) { return named(s.name); });
  if (!by_name && feed.size() != inputs_.size()) {
    std::string names;
    for (const sdk::TensorSpec& spec : inputs_) names += (names.empty() ? "" : ", ") + spec.name;
    return Malformed("the module takes " + std::to_string(inputs_.size()) + " inputs (" + names +
                     "), and the feed has " + std::to_string(feed.size()));
  }
  if (!by_name) WarnOfOrder(feed);
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(at::Tensor tensor,
                             Borrow(by_name ? *named(inputs_[i].name) : *feed[i]));
    if (needs_own_inputs_ && !device_.is_cuda()) tensor = tensor.clone();
    arguments.emplace_back(tensor.to(device_));
  }
  return arguments;
}

Result<sdk::RunOutcome> TorchScriptSession::Run(std::span<const vn_tensor* const> inputs) {
  const c10::InferenceMode no_gradients;
  VERNIER_ASSIGN_OR_RETURN(std::vector<c10::IValue> arguments, Arguments(inputs));
  sdk::RunOutcome outcome;
  c10::IValue result;
  const auto start = std::chrono::steady_clock::now();
  try {
    result = module_.forward(arguments);
    if (device_.is_cuda()) torch::cuda::synchronize();
  } catch (const c10::Error& error) {
    return BackendError(CauseFirst(error.what_without_backtrace()));
  } catch (const std::runtime_error& error) {
    return BackendError(CauseFirst(error.what()));
  }
  outcome.inference_seconds = SecondsSince(start);
  std::vector<at::Tensor> tensors;
  Flatten(result, tensors);
  for (size_t i = 0; i < tensors.size() && i < outputs_.size(); ++i) {
    // One that is an input, or a part of one, has the host's bytes for the length of this call.
    at::Tensor tensor = tensors[i];
    for (const c10::IValue& argument : arguments) {
      if (tensor.defined() && tensor.is_alias_of(argument.toTensor())) tensor = tensor.clone();
    }
    outcome.outputs.push_back(ToOutput(outputs_[i].name, tensor));
  }
  return outcome;
}

}  // namespace vernier
