#include "run/workers/profile_sizes.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/known/known_backends.h"
#include "inputs/dim_sizes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// "0<TAB>min": the shapes that stand in it.
using ProfileSides = std::map<std::string, std::vector<ShapeSpec>>;

// "0<TAB>min<TAB>x<TAB>1,3": see bind_tensorrt.h.
void ReadProfileEntry(const std::string& entry, ProfileSides& sides) {
  const size_t which = entry.find('\t');
  const size_t name = which == std::string::npos ? which : entry.find('\t', which + 1);
  const size_t dims = name == std::string::npos ? name : entry.find('\t', name + 1);
  if (dims == std::string::npos) return;
  ShapeSpec spec{entry.substr(name + 1, dims - name - 1), std::vector<Dim>()};
  for (size_t start = dims + 1; start < entry.size();) {
    const size_t end = std::min(entry.find(',', start), entry.size());
    spec.shape->push_back({ParseInt(entry.substr(start, end - start)).value_or(1), {}});
    start = end + 1;
  }
  std::vector<ShapeSpec>& side = sides[entry.substr(0, name)];
  std::erase_if(side, [&](const ShapeSpec& other) { return other.name == spec.name; });
  side.push_back(std::move(spec));
}

std::string ExtentsOf(const ShapeSpec& spec) {
  std::string text;
  for (const Dim& dim : *spec.shape) text += (text.empty() ? "" : ",") + std::to_string(dim.value);
  return text;
}

}  // namespace

void CompleteProfiles(const RunnerPlan& runner, std::span<const TensorInfo> inputs,
                      std::span<const DimSize> found, OptionList& options) {
  if (!IsKnownToHave(runner.backend, BackendTrait::kBuildsEngines)) return;
  std::vector<DimSize> sizes = runner.dims;
  sizes.insert(sizes.end(), found.begin(), found.end());
  ProfileSides sides;
  for (const auto& [key, value] : options) {
    if (key == "profile") ReadProfileEntry(value, sides);
  }
  if (sides.empty() && !sizes.empty()) sides = {{"0\tmin", {}}, {"0\topt", {}}, {"0\tmax", {}}};
  for (const auto& [side, shapes] : sides) {
    // A profile may span what is given for feeds, so that none of it can be wrong here.
    const Result<CompletedShapes> completed =
        CompleteShapes(shapes, inputs, {{}, sizes, runner.equal_names});
    if (!completed.ok()) continue;
    const size_t added = completed->shapes.size() - shapes.size();
    for (size_t i = 0; i < added; ++i) {
      const ShapeSpec& spec = completed->shapes[i];
      options.emplace_back("profile", side + "\t" + spec.name + "\t" + ExtentsOf(spec));
    }
  }
}

}  // namespace vernier
