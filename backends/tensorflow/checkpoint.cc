// Checkpoints of TensorFlow 1's kind: a graph in NAME.meta, values in NAME.index and NAME.data-*.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "loaded_graph.h"
#include "proto_bytes.h"

namespace vernier::tf {
namespace {

namespace fs = std::filesystem;

// Fields of MetaGraphDef and SaverDef.
constexpr uint32_t kMetaGraphDef = 2, kSaverDef = 3;
constexpr uint32_t kFilenameTensor = 1, kRestoreOperation = 3;

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) return Malformed("'" + path + "' cannot be read");
  return bytes;
}

Status NoCheckpointFile(const std::string& folder) {
  return Malformed(
      "Checkpoint directory: " + folder +
      " does not contain a `checkpoint` file, and the checkpoint name was not provided. Please "
      "either create a checkpoint file with the contents:\n"
      "\nmodel_checkpoint_path: \"model\"\nall_model_checkpoint_paths: \"model\"\n"
      " \nWhere `model` is the name of the checkpoint, or explicitly provide the name with --ckpt, "
      "not including file extensions");
}

// `model_checkpoint_path: "NAME"` of the file `checkpoint`.
Result<std::string> LatestName(const std::string& folder) {
  std::error_code error;
  const std::string path = folder + "/checkpoint";
  if (!fs::exists(path, error)) return NoCheckpointFile(folder);
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  constexpr std::string_view kKey = "model_checkpoint_path:";
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    if (!line.starts_with(kKey)) continue;
    const size_t open = line.find('"'), close = line.rfind('"');
    if (open < close && close != std::string_view::npos) {
      return std::string(line.substr(open + 1, close - open - 1));
    }
  }
  return Malformed("'" + path + "' has no line `model_checkpoint_path: \"NAME\"`");
}

Result<std::string> FindPrefix(const std::string& folder, std::string name) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Malformed("Specified checkpoint directory: " + folder +
                     " does not look like a directory.");
  }
  if (name.empty()) {
    VERNIER_ASSIGN_OR_RETURN(name, LatestName(folder));
  }
  const std::string prefix = (fs::path(folder) / name).string();
  if (fs::exists(prefix + ".meta", error)) return prefix;
  if (fs::exists(prefix + ".index", error)) {
    return Malformed(
        "'" + prefix +
        "' is a checkpoint of TensorFlow 2, which has values and no graph (there is no "
        "'" +
        prefix + ".meta'); save the model as a SavedModel or as .keras");
  }
  return Malformed("there is no checkpoint '" + prefix + "' (no '" + prefix + ".meta')");
}

Status Restore(const Api& api, const LoadedGraph& loaded, std::string_view saver,
               const std::string& prefix) {
  VERNIER_ASSIGN_OR_RETURN(const TF_Output filename,
                           FindTensor(api, loaded.graph.get(), FieldBytes(saver, kFilenameTensor)));
  const std::string operation(FieldBytes(saver, kRestoreOperation));
  const TF_Operation* restore = api.TF_GraphOperationByName(loaded.graph.get(), operation.c_str());
  if (restore == nullptr) return Malformed("the graph has no operation '" + operation + "'");
  // Arrow's layout of one string.
  std::vector<int64_t> arrow(2 + prefix.size() / sizeof(int64_t) + 1);
  arrow[1] = static_cast<int64_t>(prefix.size());
  prefix.copy(reinterpret_cast<char*>(&arrow[2]), prefix.size());
  vn_tensor text{};
  text.data = arrow.data();
  text.dtype_code = VN_DTYPE_STRING;
  VERNIER_ASSIGN_OR_RETURN(const TensorHandle value,
                           FedTensors().Make(api, text, FedTensors::Memory::kCopy));
  TF_Tensor* const values[] = {value.get()};
  const Outcome outcome(api);
  api.TF_SessionRun(loaded.session.get(), nullptr, &filename, values, 1, nullptr, nullptr, 0,
                    &restore, 1, nullptr, outcome.get());
  return outcome.Check(StatusCode::kMalformed, "restoring the checkpoint '" + prefix + "'");
}

}  // namespace

bool IsCheckpointFile(const std::string& path) {
  std::error_code error;
  return fs::exists(path + ".meta", error) ||
         (path.ends_with(".meta") && fs::exists(fs::path(path).replace_extension(".index"), error));
}

Result<LoadedGraph> LoadCheckpoint(const Api& api, const std::string& folder, std::string name,
                                   const SessionConfig& config) {
  VERNIER_ASSIGN_OR_RETURN(const std::string prefix, FindPrefix(folder, std::move(name)));
  VERNIER_ASSIGN_OR_RETURN(const std::string meta, ReadFile(prefix + ".meta"));
  const std::string_view saver = FieldBytes(meta, kSaverDef);
  const std::string_view graph_def = FieldBytes(meta, kMetaGraphDef);
  if (saver.empty() || graph_def.empty()) {
    return Malformed("'" + prefix +
                     ".meta' holds no graph with a saver: it is damaged, or no "
                     "checkpoint of TensorFlow");
  }
  LoadedGraph loaded(api);
  VERNIER_TRY(ImportGraph(api, graph_def, prefix + ".meta", loaded.graph.get()));
  VERNIER_ASSIGN_OR_RETURN(loaded.session, NewSession(api, loaded.graph.get(), config));
  VERNIER_TRY(Restore(api, loaded, saver, prefix));
  const std::string_view restore = FieldBytes(saver, kRestoreOperation);
  if (const size_t slash = restore.rfind('/'); slash != std::string_view::npos) {
    loaded.rules.saver_scope = restore.substr(0, slash + 1);
  }
  return loaded;
}

}  // namespace vernier::tf
