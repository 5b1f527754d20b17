#include "run/comparison/given_outputs.h"

#include <algorithm>

#include "compare/outputs/postprocess.h"
#include "compare/outputs/validate.h"
#include "util/values/list_has.h"

namespace vernier {

void GivenOutputs::Note(size_t stream, const TensorMap& given, const TensorMap& made) {
  // Indices of the largest values have one type, whatever the values had.
  for (const NamedTensor& output : given) {
    if (plan_->strict || plan_->same_type)
      types_[stream][output.name].insert(output.tensor.dtype());
  }
  if (!by_script_) NoteNans(stream, given);
  if (made.size() >= given.size()) return;
  std::vector<std::string>& dropped = dropped_[stream];
  for (const NamedTensor& output : given) {
    if (!ListHas(dropped, output.name) && Find(made, output.name) == nullptr) {
      dropped.push_back(output.name);
    }
  }
}

// Top-K makes indices of all values. Polygraphy does not look at them.
void GivenOutputs::NoteNans(size_t stream, const TensorMap& given) {
  if (plan_->lenient) return;
  for (const NamedTensor& output : given) {
    std::pair hidden(stream, output.name);
    if (ListHas(hidden_nans_, hidden)) continue;
    if (plan_->postprocess.Lookup(output.name, {}).k == 0) continue;
    if (ValidateTensor(output.tensor).nan_count > 0) hidden_nans_.push_back(std::move(hidden));
  }
}

std::vector<std::string> GivenOutputs::Dropped(size_t first, size_t second) const {
  std::vector<std::string> names = dropped_[first];
  for (const std::string& name : dropped_[second]) {
    if (!ListHas(names, name)) names.push_back(name);
  }
  return names;
}

const std::set<DType>* GivenOutputs::TypesOf(size_t stream, const std::string& output) const {
  const auto found = types_[stream].find(output);
  return found == types_[stream].end() ? nullptr : &found->second;
}

}  // namespace vernier
