#include "model/edit/onnx_save.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "model/onnx/wire_reader.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFloatDataField = 4, kRawDataField = 9, kExternalDataField = 13,
                   kDataLocationField = 14;
constexpr uint64_t kPythonBytesOverhead = 33;
constexpr uint64_t kPage = 4096;  // ONNX asks for it so that tensors can be mapped
constexpr size_t kLargestFileName = 200;

std::string FolderOf(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Replaces everything in a TensorProto that says where its raw values are.
Status PatchTensorData(const OnnxTensor& tensor, BytePieces fields, std::vector<WirePatch>& out) {
  if (tensor.split) {
    return Unimplemented("tensor " + QuotePython(tensor.name) +
                         " is split into several parts, which cannot be moved");
  }
  bool first = true;
  WireSource source(tensor.bytes);
  WireReader reader(source, OnnxMessage::kTensor, tensor.bytes);
  while (reader.Next()) {
    const uint32_t field = reader.field();
    reader.Skip();
    if (field != kFloatDataField && field != kRawDataField && field != kExternalDataField &&
        field != kDataLocationField) {
      continue;
    }
    out.push_back({reader.FieldBytes(), first ? std::move(fields) : BytePieces()});
    first = false;
  }
  return {};
}

BytePieces RawDataField(const BytePieces& values) {
  std::string head;
  AppendTag(head, kRawDataField, WireType::kBytes);
  AppendVarint(head, values.size());
  BytePieces field;
  field.AddOwned(std::move(head));
  field.Append(values);
  return field;
}

BytePieces ValuesAt(const ExternalSlice& slice) {
  BytePieces values;
  values.AddExternal(slice);
  return values;
}

BytePieces ExternalDataFields(const ExternalSlice& slice) {
  std::string fields;
  const auto add = [&](std::string_view key, std::string_view value) {
    std::string entry;
    AppendBytesField(entry, 1, key);
    AppendBytesField(entry, 2, value);
    AppendBytesField(fields, kExternalDataField, entry);
  };
  add("location", slice.location);
  add("offset", std::to_string(slice.offset));
  add("length", std::to_string(slice.size));
  AppendVarintField(fields, kDataLocationField, 1);
  BytePieces pieces;
  pieces.AddOwned(std::move(fields));
  return pieces;
}

// The rule for names of files that Polygraphy's library uses, without the two special folders.
bool IsFileName(std::string_view name) {
  return !name.empty() && name.size() <= kLargestFileName && name != "." && name != ".." &&
         name.find_first_of("<>:;,?\"*|/\\\n") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

class Saver {
 public:
  Saver(const OnnxModel& model, const std::string& path, const SaveOnnxOptions& options)
      : model_(model), path_(path), folder_(FolderOf(path)), options_(options) {
    for (const ReplacedValues& values : options.values) {
      replaced_[values.tensor.bytes.data()] = &values.values;
    }
  }

  Status Save(std::vector<WirePatch> patches) {
    patches_ = std::move(patches);
    if (!options_.ignore_weights) {
      VERNIER_ASSIGN_OR_RETURN(report_, CheckExternalData(model_, options_.source));
      if (!report_.slices.empty()) {
        VERNIER_ASSIGN_OR_RETURN(ExternalFolder source,
                                 ExternalFolder::Open(model_.path(), options_.source));
        source_.emplace(std::move(source));
      }
    }
    if (options_.external_path) {
      VERNIER_TRY(MoveOut());
    } else if (EmbeddedSize() < options_.largest_file) {
      VERNIER_TRY(Embed());
    } else if (!options_.values.empty() || !WeightsLieThere()) {
      own_location_ = FreeLocation();
      VERNIER_TRY(MoveOut());
    }
    return WriteModel();
  }

 private:
  const BytePieces* ReplacedIn(const OnnxTensor& tensor) const {
    const auto found = replaced_.find(tensor.bytes.data());
    return found == replaced_.end() ? nullptr : found->second;
  }
  uint64_t EmbeddedSize() const;
  Status MoveOrEmbed(const OnnxTensor& tensor, const BytePieces& values);
  Status Embed();
  bool WeightsLieThere() const;
  std::string FreeLocation() const;
  Status CheckTarget(const std::string& target) const;
  Status MoveOut();
  Status MoveTensor(const OnnxTensor& tensor, BytePieces values);
  Status CheckExternalPath() const;
  Status WriteDataFiles();
  Status WriteModel();
  std::string NextLocation(const OnnxTensor& tensor);

  const OnnxModel& model_;
  const std::string& path_;
  std::string folder_;
  const SaveOnnxOptions& options_;
  std::vector<WirePatch> patches_;
  ExternalDataReport report_;
  std::optional<ExternalFolder> source_;
  std::map<std::string, BytePieces> data_files_;  // by location
  std::string own_location_;                      // of weights for which no file was named
  std::unordered_map<const char*, const BytePieces*> replaced_;
};

uint64_t Saver::EmbeddedSize() const {
  uint64_t size = model_.bytes().size() + report_.total_bytes;
  for (const ReplacedValues& values : options_.values) {
    // What it replaces is counted above, in the file or as external data.
    size += values.values.size();
    size -= std::min<uint64_t>(size, values.tensor.raw_data.size());
  }
  for (size_t i = 0; i < report_.slices.size(); ++i) {
    if (ReplacedIn(model_.external_tensors()[i]) != nullptr) size -= report_.slices[i].size;
  }
  return size;
}

Status Saver::Embed() {
  for (size_t i = 0; i < report_.slices.size(); ++i) {
    const OnnxTensor& tensor = model_.external_tensors()[i];
    if (ReplacedIn(tensor) != nullptr) continue;
    VERNIER_TRY(PatchTensorData(tensor, RawDataField(ValuesAt(report_.slices[i])), patches_));
  }
  for (const ReplacedValues& values : options_.values) VERNIER_TRY(PatchValues(values, patches_));
  return {};
}

Status Saver::MoveOrEmbed(const OnnxTensor& tensor, const BytePieces& values) {
  if (values.size() + kPythonBytesOverhead >= options_.size_threshold) {
    return MoveTensor(tensor, values);
  }
  return PatchTensorData(tensor, RawDataField(values), patches_);
}

// The files that the model names are beside the new one, so that it can name them as well.
bool Saver::WeightsLieThere() const {
  return std::all_of(report_.files.begin(), report_.files.end(),
                     [this](const ExternalFileInfo& info) {
                       std::error_code ignored;
                       return fs::equivalent(fs::path(folder_) / info.location, info.path, ignored);
                     });
}

// A file that is there is taken only where the model that is written anew has its weights in it.
std::string Saver::FreeLocation() const {
  const Result<OnnxModel> old = OnnxModel::Open(path_);
  const auto is_its_own = [&](const std::string& location) {
    if (!old.ok()) return false;
    const std::span<const OnnxTensor> tensors = old->external_tensors();
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const OnnxTensor& tensor) { return tensor.location == location; });
  };
  const std::string name = fs::path(path_).filename().string();
  std::string location = name + ".data";
  std::error_code ignored;
  const auto taken = [&] {
    const fs::path target = fs::path(folder_) / location;
    return fs::exists(target, ignored) &&
           (!is_its_own(location) || !CheckTarget(target.string()).ok());
  };
  for (size_t i = 1; taken(); ++i) location = name + "_" + std::to_string(i) + ".data";
  return location;
}

// Weights of the source may be replaced together with their model alone.
Status Saver::CheckTarget(const std::string& target) const {
  std::error_code ignored;
  if (fs::equivalent(path_, model_.path(), ignored)) return {};
  for (const ExternalFileInfo& info : report_.files) {
    if (!fs::equivalent(target, info.path, ignored)) continue;
    return InvalidArgument("--save-external-data: '" + target + "' has the weights of '" +
                           model_.path() + "', which would be lost: expected another name");
  }
  return {};
}

Status Saver::CheckExternalPath() const {
  const fs::path location(options_.external_path.value_or(""));
  const bool climbs = std::find(location.begin(), location.end(), "..") != location.end();
  if (!location.is_absolute() && !climbs) return {};
  return InvalidArgument("--save-external-data: expected a path below the model's folder, got " +
                         QuotePython(*options_.external_path));
}

std::string Saver::NextLocation(const OnnxTensor& tensor) {
  if (options_.one_file) {
    if (!options_.external_path.value_or("").empty()) return *options_.external_path;
    if (!own_location_.empty()) return own_location_;
    return fs::path(path_).filename().string() + ".data";
  }
  std::string name(tensor.name);
  if (!IsFileName(name)) name = "tensor";
  // Several tensors may share a name, or have one that is no file name; the model must survive too.
  std::string unique = name;
  for (size_t i = 1; data_files_.contains(unique) || fs::path(path_).filename() == unique; ++i) {
    unique = name + "_" + std::to_string(i);
  }
  return unique;
}

Status Saver::MoveTensor(const OnnxTensor& tensor, BytePieces values) {
  const std::string location = NextLocation(tensor);
  BytePieces& file = data_files_[location];
  if (values.size() >= kPage && file.size() % kPage != 0) {
    file.AddOwned(std::string(kPage - file.size() % kPage, '\0'));
  }
  const ExternalSlice slice{location, file.size(), values.size()};
  file.Append(values);
  return PatchTensorData(tensor, ExternalDataFields(slice), patches_);
}

Status Saver::MoveOut() {
  VERNIER_TRY(CheckExternalPath());
  std::unordered_set<const char*> initializers;
  const auto visit = [&](const OnnxGraph& graph) -> Status {
    for (const OnnxTensor& tensor : graph.initializers) {
      initializers.insert(tensor.bytes.data());
      if (const BytePieces* values = ReplacedIn(tensor)) {
        VERNIER_TRY(MoveOrEmbed(tensor, *values));
        continue;
      }
      const bool embedded = !tensor.external && tensor.raw_data.data() != nullptr;
      if (!embedded || tensor.raw_data.size() + kPythonBytesOverhead < options_.size_threshold) {
        continue;
      }
      BytePieces values;
      values.AddView(tensor.raw_data);
      VERNIER_TRY(MoveTensor(tensor, std::move(values)));
    }
    return {};
  };
  VERNIER_TRY(visit(model_.graph()));
  for (const OnnxGraph& graph : model_.contents().subgraphs) VERNIER_TRY(visit(graph));
  for (size_t i = 0; i < report_.slices.size(); ++i) {
    const OnnxTensor& tensor = model_.external_tensors()[i];
    if (ReplacedIn(tensor) != nullptr) continue;
    const BytePieces values = ValuesAt(report_.slices[i]);
    VERNIER_TRY(initializers.contains(tensor.bytes.data())
                    ? MoveOrEmbed(tensor, values)
                    : PatchTensorData(tensor, RawDataField(values), patches_));
  }
  for (const ReplacedValues& values : options_.values) {
    if (initializers.contains(values.tensor.bytes.data())) continue;
    VERNIER_TRY(PatchValues(values, patches_));
  }
  return WriteDataFiles();
}

Status Saver::WriteDataFiles() {
  for (const auto& [location, pieces] : data_files_) {
    const std::string target = (fs::path(folder_) / location).string();
    std::error_code ignored;
    if (fs::weakly_canonical(target, ignored) == fs::weakly_canonical(path_, ignored)) {
      return InvalidArgument("--save-external-data: the weights and the model would both be '" +
                             target + "'");
    }
    VERNIER_TRY(CheckTarget(target));
    if (location == own_location_ && options_.log != nullptr) {
      options_.log->Info("Saving weights to: " + target);
    }
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(target));
    VERNIER_TRY(WritePieces(pieces, source_ ? &*source_ : nullptr, file));
    VERNIER_TRY(file.Commit(options_.durability));
  }
  return {};
}

Status Saver::WriteModel() {
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                           ApplyPatches(model_.bytes(), std::move(patches_)));
  if (pieces.size() > 0x7fffffff) {
    return Unimplemented("'" + path_ + "' would have " + std::to_string(pieces.size()) +
                         " bytes, but an ONNX file ends at 2 GiB: use --save-external-data");
  }
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
  VERNIER_TRY(WritePieces(pieces, source_ ? &*source_ : nullptr, file));
  return file.Commit(options_.durability);
}

}  // namespace

Status PatchValues(const ReplacedValues& values, std::vector<WirePatch>& patches) {
  return PatchTensorData(values.tensor, RawDataField(values.values), patches);
}

Status PatchExternal(const OnnxTensor& tensor, const ExternalSlice& place,
                     std::vector<WirePatch>& patches) {
  return PatchTensorData(tensor, ExternalDataFields(place), patches);
}

Status SaveOnnx(const OnnxModel& model, std::vector<WirePatch> patches, const std::string& path,
                const SaveOnnxOptions& options) {
  return Saver(model, path, options).Save(std::move(patches));
}

}  // namespace vernier
