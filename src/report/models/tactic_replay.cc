#include "report/models/tactic_replay.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "io/polygraphy/polygraphy_document.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoReplay = "Provided JSON cannot be decoded into a TacticReplayData.";

std::string NumberOrNone(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> found = object.Find(key);
  if (!found || found->is(JsonValue::Kind::kNull)) return "None";
  return found->is(JsonValue::Kind::kNumber) ? std::string(found->raw()) : found->Text();
}

// Python's tuple of texts.
std::string Tuple(const std::vector<std::string>& items) {
  std::string text = "(";
  for (const std::string& item : items) text += (text == "(" ? "" : ", ") + item;
  return text + (items.size() == 1 ? ",)" : ")");
}

std::string DescribeTensor(const JsonValue& tensor) {
  std::vector<std::string> strides;
  if (const auto list = tensor.Find("strides")) {
    for (const JsonValue& stride : list->Elements()) strides.emplace_back(stride.raw());
  }
  return "TensorInfo(" + NumberOrNone(tensor, "dtype") + ", " + Tuple(strides) + ", " +
         NumberOrNone(tensor, "vectorized_dim") + ", " +
         NumberOrNone(tensor, "components_per_element") + ")";
}

std::string DescribeTensors(const JsonValue& algorithm, std::string_view key) {
  std::vector<std::string> tensors;
  if (const auto list = algorithm.Find(key)) {
    for (const JsonValue& tensor : list->Elements()) tensors.push_back(DescribeTensor(tensor));
  }
  return Tuple(tensors);
}

Result<std::vector<TacticOfLayer>> ReadReplay(const JsonValue& root) {
  const auto name = root.Find("polygraphy_class");
  const auto replay = root.Find("replay");
  const bool fits = name && name->IsText() && name->Text() == "TacticReplayData" && replay &&
                    replay->is(JsonValue::Kind::kObject);
  if (!fits) return Malformed(std::string(kNoReplay));
  std::vector<TacticOfLayer> tactics;
  for (const JsonValue::Member& layer : replay->Members()) {
    if (!layer.value.Find("implementation") || !layer.value.Find("tactic")) {
      return Malformed(std::string(kNoReplay) + " Layer '" + layer.key + "' has no algorithm.");
    }
    tactics.push_back(
        {layer.key, "(Implementation: " + NumberOrNone(layer.value, "implementation") +
                        ", Tactic: " + NumberOrNone(layer.value, "tactic") +
                        ") | Inputs: " + DescribeTensors(layer.value, "inputs") +
                        " | Outputs: " + DescribeTensors(layer.value, "outputs")});
  }
  return tactics;
}

std::vector<std::string>& OfLayer(TacticsByLayer& tactics, const std::string& layer) {
  for (auto& [name, algorithms] : tactics) {
    if (name == layer) return algorithms;
  }
  return tactics.emplace_back(layer, std::vector<std::string>()).second;
}

std::vector<std::string> FilesIn(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, options, error), end; entry != end && !error;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<std::vector<TacticOfLayer>> ReadTacticReplay(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<PolygraphyDocument> document,
                           PolygraphyDocument::Open(path));
  Result<std::vector<TacticOfLayer>> tactics = ReadReplay(document->root());
  if (!tactics.ok()) return document->Annotate(tactics.status());
  return tactics;
}

LoadedReplays LoadTacticReplays(const std::string& path) {
  LoadedReplays loaded;
  for (const std::string& file : FilesIn(path)) {
    const Result<std::vector<TacticOfLayer>> replay = ReadTacticReplay(file);
    (replay.ok() ? loaded.read : loaded.skipped).push_back(file);
    if (!replay.ok()) continue;
    for (const TacticOfLayer& tactic : *replay) {
      std::vector<std::string>& known = OfLayer(loaded.tactics, tactic.layer);
      if (std::find(known.begin(), known.end(), tactic.algorithm) == known.end()) {
        known.push_back(tactic.algorithm);
      }
    }
  }
  return loaded;
}

TacticsByLayer OnlyInBad(const TacticsByLayer& good, const TacticsByLayer& bad) {
  TacticsByLayer found;
  for (auto [layer, algorithms] : bad) {
    for (const auto& other : good) {
      if (other.first != layer) continue;
      const std::vector<std::string>& fine = other.second;  // clang 14 captures no bindings
      std::erase_if(algorithms, [&](const std::string& algorithm) {
        return std::find(fine.begin(), fine.end(), algorithm) != fine.end();
      });
    }
    if (!algorithms.empty()) found.emplace_back(layer, std::move(algorithms));
  }
  return found;
}

}  // namespace vernier
