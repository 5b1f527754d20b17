#include "blame/probe/reference_probe.h"

namespace vernier {

std::vector<std::string> ReferenceProbe::OwnNames(
    const std::vector<std::string_view>& names) const {
  std::vector<std::string> own;
  for (const std::string_view name : names) own.push_back(*source_.pairs.Find(name));
  return own;
}

void ReferenceProbe::Begin(const std::vector<std::string_view>& names, const TensorMap& feed) {
  if (sessions_ == nullptr) return;
  sessions_->Want(OwnNames(names));
  sessions_->Begin(feed);
}

Status ReferenceProbe::Fetch(const std::vector<std::string_view>& names, const TensorMap& feed,
                             int64_t iteration, TensorsByName& into) {
  TensorMap outputs;
  if (sessions_ != nullptr) {
    const std::vector<std::string> wanted = OwnNames(names);
    sessions_->Want(wanted);
    VERNIER_ASSIGN_OR_RETURN(outputs, sessions_->Run(feed, wanted));
  } else {
    VERNIER_ASSIGN_OR_RETURN(IterationResult saved,
                             source_.saved.Read(source_.saved_run, iteration, source_.logger));
    outputs = std::move(saved.outputs);
  }
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const NamedTensor& output : outputs) by_name[output.name] = &output.tensor;
  for (const std::string_view name : names) {
    const auto found = by_name.find(*source_.pairs.Find(name));
    if (found != by_name.end()) into[name] = *found->second;
  }
  return {};
}

}  // namespace vernier
