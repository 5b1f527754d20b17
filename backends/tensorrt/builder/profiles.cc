#include "tensorrt/builder/profiles.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tensorrt/library/option_words.h"

namespace vernier::trt {
namespace {

using nvinfer1::Dims;
using nvinfer1::OptProfileSelector;

struct SelectorWord {
  std::string_view word;
  OptProfileSelector selector;
};
constexpr std::array<SelectorWord, 3> kSelectors = {{{"min", OptProfileSelector::kMIN},
                                                     {"opt", OptProfileSelector::kOPT},
                                                     {"max", OptProfileSelector::kMAX}}};

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsDynamic(const Dims& dims) {
  if (dims.nbDims < 0) return true;
  return std::any_of(dims.d, dims.d + dims.nbDims, [](auto d) { return d < 0; });
}

bool NeedsProfile(const nvinfer1::ITensor& input) {
  return IsDynamic(input.getDimensions()) || input.isShapeTensor();
}

// The values of a shape tensor: as many as its dimension says.
std::vector<int64_t> DefaultShape(const nvinfer1::ITensor& input) {
  const Dims dims = input.getDimensions();
  if (input.isShapeTensor()) {
    return std::vector<int64_t>(dims.nbDims == 0 ? 1 : static_cast<size_t>(dims.d[0]), 1);
  }
  std::vector<int64_t> shape(dims.d, dims.d + dims.nbDims);
  std::replace_if(
      shape.begin(), shape.end(), [](int64_t d) { return d < 0; }, int64_t{1});
  return shape;
}

// Shape values were 32 bits wide until setShapeValuesV2.
template <typename Profile>
bool SetValues(Profile& profile, const char* name, OptProfileSelector selector,
               const std::vector<int64_t>& values) {
  const auto count = static_cast<int32_t>(values.size());
  if constexpr (requires { profile.setShapeValuesV2(name, selector, values.data(), count); }) {
    return profile.setShapeValuesV2(name, selector, values.data(), count);
  } else {
    const std::vector<int32_t> narrow(values.begin(), values.end());
    return profile.setShapeValues(name, selector, narrow.data(), count);
  }
}

bool SetOne(nvinfer1::IOptimizationProfile& profile, const nvinfer1::ITensor& input,
            OptProfileSelector selector, const std::vector<int64_t>& shape) {
  if (input.isShapeTensor()) return SetValues(profile, input.getName(), selector, shape);
  Dims dims{};
  if (shape.size() > Dims::MAX_DIMS) return false;
  dims.nbDims = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    dims.d[i] = static_cast<std::remove_reference_t<decltype(dims.d[0])>>(shape[i]);
  }
  return profile.setDimensions(input.getName(), selector, dims);
}

const ProfileEntry* Find(const std::vector<ProfileEntry>& entries, int64_t index,
                         std::string_view which, const std::string& name) {
  const auto is = [&](const ProfileEntry& e, bool exact) {
    return e.index == index && e.which == which &&
           (exact ? e.name == name : IsPattern(e.name) && Matches(e.name, name));
  };
  for (const bool exact : {true, false}) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const ProfileEntry& e) { return is(e, exact); });
    if (found != entries.end()) return &*found;
  }
  return nullptr;
}

Status CheckNames(const std::vector<ProfileEntry>& entries,
                  const nvinfer1::INetworkDefinition& network) {
  for (const ProfileEntry& entry : entries) {
    std::string names;
    bool found = false;
    for (int32_t i = 0; i < network.getNbInputs(); ++i) {
      const std::string name = network.getInput(i)->getName();
      found |= name == entry.name || (IsPattern(entry.name) && Matches(entry.name, name));
      names += (names.empty() ? "'" : "', '") + name;
    }
    if (found) continue;
    return InvalidArgument("an optimization profile names the input '" + entry.name +
                           "', which the network does not have; its inputs are " + names + "'");
  }
  return {};
}

Status FillProfile(nvinfer1::IOptimizationProfile& profile, int64_t index,
                   const std::vector<ProfileEntry>& entries,
                   const nvinfer1::INetworkDefinition& network, Logger& logger) {
  for (int32_t i = 0; i < network.getNbInputs(); ++i) {
    const nvinfer1::ITensor& input = *network.getInput(i);
    const std::string name = input.getName();
    std::vector<int64_t> shape = DefaultShape(input);
    if (NeedsProfile(input) && Find(entries, index, "min", name) == nullptr) {
      logger.host().Warning("Input tensor: " + name +
                            " | No shapes provided; its dynamic dimensions"
                            " become 1 and static (give --trt-min/opt/max-shapes)");
    }
    for (const SelectorWord& row : kSelectors) {
      const ProfileEntry* entry = Find(entries, index, row.word, name);
      if (entry != nullptr) shape = entry->dims;
      if (SetOne(profile, input, row.selector, shape)) continue;
      return InvalidArgument("optimization profile " + std::to_string(index) +
                             ": TensorRT refused the " + std::string(row.word) +
                             " shape of input '" + name + "': " + logger.TakeError());
    }
  }
  if (profile.isValid()) return {};
  return InvalidArgument("optimization profile " + std::to_string(index) +
                         " is not valid: " + logger.TakeError());
}

// Shapes inside of the network that follow from data, as of NonZero, want a profile even where all
// inputs are static.
bool DependsOnData(const nvinfer1::INetworkDefinition& network) {
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const nvinfer1::ILayer& layer = *network.getLayer(i);
    for (int32_t k = 0; k < layer.getNbOutputs(); ++k) {
      const nvinfer1::ITensor* tensor = layer.getOutput(k);
      if (tensor != nullptr && IsDynamic(tensor->getDimensions())) return true;
    }
  }
  return false;
}

}  // namespace

Result<ProfileEntry> ParseProfileEntry(const std::string& text) {
  const std::vector<std::string_view> fields = SplitAt(text, '\t');
  ProfileEntry entry;
  const auto number = [](std::string_view word, int64_t& out) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    return error == std::errc() && end == word.data() + word.size();
  };
  bool ok = fields.size() == 4 && number(fields[0], entry.index);
  if (ok) {
    entry.which = fields[1];
    entry.name = fields[2];
    if (!fields[3].empty()) {
      for (const std::string_view word : SplitAt(fields[3], ',')) {
        entry.dims.emplace_back();
        ok = ok && number(word, entry.dims.back());
      }
    }
  }
  if (ok) return entry;
  return Internal("a profile entry that cannot be read: '" + text + "'");
}

Status AddProfiles(nvinfer1::IBuilder& builder, const nvinfer1::INetworkDefinition& network,
                   nvinfer1::IBuilderConfig& config, const sdk::Options& options, Logger& logger) {
  std::vector<ProfileEntry> entries;
  int64_t count = 0;
  for (const std::string& text : options.GetAll("profile")) {
    VERNIER_ASSIGN_OR_RETURN(ProfileEntry entry, ParseProfileEntry(text));
    count = std::max(count, entry.index + 1);
    entries.push_back(std::move(entry));
  }
  VERNIER_TRY(CheckNames(entries, network));
  bool dynamic = DependsOnData(network);
  for (int32_t i = 0; i < network.getNbInputs(); ++i) dynamic |= NeedsProfile(*network.getInput(i));
  if (!dynamic) return {};
  nvinfer1::IOptimizationProfile* profile = nullptr;
  for (int64_t index = 0; index < std::max<int64_t>(count, 1); ++index) {
    profile = builder.createOptimizationProfile();
    if (profile == nullptr) return BackendError("TensorRT made no optimization profile");
    VERNIER_TRY(FillProfile(*profile, index, entries, network, logger));
    if (config.addOptimizationProfile(profile) < 0) {
      return BackendError("TensorRT refused optimization profile " + std::to_string(index) + ": " +
                          logger.TakeError());
    }
  }
  // The last one's opt shapes, as Polygraphy does; the feeds are made for them.
  if (IsOn(options, "int8")) {
    [&](auto& c) {
      if constexpr (requires { c.setCalibrationProfile(profile); })
        c.setCalibrationProfile(profile);
    }(config);
  }
  return {};
}

std::string FormatShape(const Dims& dims) {
  std::string text = "[";
  for (int32_t i = 0; i < dims.nbDims; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(dims.d[i]);
  }
  return text + "]";
}

}  // namespace vernier::trt
