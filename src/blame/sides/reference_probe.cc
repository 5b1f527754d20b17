#include "blame/sides/reference_probe.h"

namespace vernier {

std::vector<std::string> ReferenceProbe::OwnNames(
    const std::vector<std::string_view>& names) const {
  std::vector<std::string> own;
  for (const std::string_view name : names) {
    const auto foreign = source_.pairs.foreign.find(name);
    own.push_back(foreign == source_.pairs.foreign.end() ? *source_.pairs.Find(name)
                                                         : foreign->second.reference);
  }
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
  const std::vector<std::string> own = OwnNames(names);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = by_name.find(own[i]);
    if (found == by_name.end()) continue;
    const auto foreign = source_.pairs.foreign.find(names[i]);
    if (foreign == source_.pairs.foreign.end()) {
      into[names[i]] = *found->second;
      continue;
    }
    Result<Tensor> laid_out = foreign->second.layout.Apply(*found->second);
    if (laid_out.ok()) {
      into[names[i]] = *std::move(laid_out);
    } else {
      unexposed_.push_back({std::string(names[i]), "in the reference as '" + own[i] + "', " +
                                                       laid_out.status().message()});
    }
  }
  return {};
}

}  // namespace vernier
