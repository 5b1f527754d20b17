#include "blame/judge/saturation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace vernier {
namespace {

constexpr std::string_view kFloat16 = "float16";

// Beyond it, a layer of sides with different types is blamed by itself.
constexpr double kCertain = 3;

bool IsInfinite(std::optional<double> error) { return error && std::isinf(*error); }

bool IsInfinite(const BlameTensorRecord& tensor) {
  return std::isinf(tensor.total_error) || IsInfinite(tensor.own_error) ||
         IsInfinite(tensor.fused_error) || IsInfinite(tensor.in_place_error);
}

bool Saturates(const MagnitudeRecord& wide, const MagnitudeRecord& narrow) {
  if (wide.nan_count > 0 || wide.infinite_count > 0 || narrow.nan_count > 0) return false;
  const double beyond = wide.float16_overflow * static_cast<double>(wide.elements);
  return narrow.infinite_count > 0 && std::llround(beyond) == narrow.infinite_count;
}

// How many finite values are beyond float16.
int64_t CountBeyond(const MagnitudeRecord& values) {
  const int64_t finite = values.elements - values.nan_count - values.infinite_count;
  return std::llround(values.float16_overflow * static_cast<double>(finite));
}

// Some casts make the largest float32 of an infinity.
bool IsCutOff(const MagnitudeRecord& infinite, const MagnitudeRecord& cut) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return infinite.infinite_count > 0 && cut.infinite_count == 0 && cut.largest == kLargest &&
         infinite.nan_count == 0 && cut.nan_count == 0 &&
         CountBeyond(cut) == CountBeyond(infinite) + infinite.infinite_count;
}

bool Saturates(const BlameTensorRecord& tensor) {
  if (IsCutOff(tensor.reference, tensor.candidate) ||
      IsCutOff(tensor.candidate, tensor.reference)) {
    return true;
  }
  if (tensor.reference_dtype.empty()) return false;
  if (tensor.dtype == kFloat16) return Saturates(tensor.reference, tensor.candidate);
  return tensor.reference_dtype == kFloat16 && Saturates(tensor.candidate, tensor.reference);
}

double LargestError(const BlameLayerRecord& layer) {
  return std::max({layer.total_error, layer.own_error.value_or(0), layer.fused_error.value_or(0),
                   layer.in_place_error.value_or(0)});
}

void Excuse(std::optional<double>& error) {
  if (IsInfinite(error)) error = 0;
}

void Excuse(BlameTensorRecord& tensor) {
  if (std::isinf(tensor.total_error)) tensor.total_error = 0;
  for (auto* error : {&tensor.own_error, &tensor.fused_error, &tensor.in_place_error}) {
    Excuse(*error);
  }
}

}  // namespace

std::vector<std::string> ExcuseSaturation(const std::vector<std::string>& outputs,
                                          std::span<BlameLayerRecord> layers) {
  std::unordered_map<std::string_view, std::vector<const BlameLayerRecord*>> readers;
  for (const BlameLayerRecord& layer : layers) {
    for (const std::string& name : layer.inputs) readers[name].push_back(&layer);
  }
  const auto is_absorbed = [&](const BlameTensorRecord& tensor) {
    const std::string& name = tensor.name_in_candidate();
    const auto found = readers.find(name);
    if (found == readers.end() || std::ranges::find(outputs, name) != outputs.end()) return false;
    return std::ranges::all_of(found->second, [](const BlameLayerRecord* reader) {
      return LargestError(*reader) <= kCertain;
    });
  };
  std::vector<std::string> excused;
  // Readers first.
  for (size_t i = layers.size(); i-- > 0;) {
    BlameLayerRecord& layer = layers[i];
    if (!std::isinf(LargestError(layer))) continue;
    const bool rounds = std::ranges::all_of(layer.outputs, [&](const BlameTensorRecord& tensor) {
      return !IsInfinite(tensor) || (Saturates(tensor) && is_absorbed(tensor));
    });
    if (!rounds) continue;
    layer.total_error = 0;
    for (BlameTensorRecord& tensor : layer.outputs) {
      if (IsInfinite(tensor)) excused.push_back(tensor.name);
      Excuse(tensor);
      layer.total_error = std::max(layer.total_error, tensor.total_error);
    }
    for (auto* error : {&layer.own_error, &layer.fused_error, &layer.in_place_error}) {
      Excuse(*error);
    }
  }
  std::ranges::reverse(excused);
  return excused;
}

std::string DescribeSaturation(const std::vector<std::string>& tensors) {
  if (tensors.empty()) return "";
  const std::string more =
      tensors.size() > 1 ? " and " + std::to_string(tensors.size() - 1) + " more" : "";
  return "'" + tensors.front() + "'" + more +
         ": values are infinite on one side and finite on the other, beyond float16's 65504 or the "
         "largest float32, and the layers that read them give the same result on both sides";
}

}  // namespace vernier
