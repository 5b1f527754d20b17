// SavedModel folders, and graphs in general: how they get into a session.
#include <algorithm>
#include <filesystem>

#include "loaded_graph.h"
#include "proto_bytes.h"

namespace vernier::tf {
namespace {

// Fields of MetaGraphDef, SignatureDef and TensorInfo (tensorflow/core/protobuf/meta_graph.proto).
constexpr uint32_t kSignatureDef = 5;
constexpr uint32_t kSignatureInputs = 1, kSignatureOutputs = 2;
constexpr uint32_t kTensorInfoName = 1;
constexpr std::string_view kServingSignature = "serving_default";
// Says of the object graph that it was restored; takes nothing and gives nothing.
constexpr std::string_view kInitSignature = "__saved_model_init_op";

struct NamedMessage {
  std::string_view name, message;
};

// The entries of a map, in the order of their keys.
std::vector<NamedMessage> MapEntries(std::string_view message, uint32_t field) {
  std::vector<NamedMessage> entries;
  for (const std::string_view entry : AllFieldBytes(message, field)) {
    entries.push_back({FieldBytes(entry, kMapKey), FieldBytes(entry, kMapValue)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const NamedMessage& a, const NamedMessage& b) { return a.name < b.name; });
  return entries;
}

Result<std::string_view> ChooseSignature(std::string_view meta_graph, std::string_view wanted) {
  std::string names;
  std::vector<NamedMessage> signatures;
  for (const NamedMessage& signature : MapEntries(meta_graph, kSignatureDef)) {
    if (signature.name == (wanted.empty() ? kServingSignature : wanted)) return signature.message;
    if (signature.name == kInitSignature) continue;
    names += (names.empty() ? "'" : ", '") + std::string(signature.name) + "'";
    signatures.push_back(signature);
  }
  if (!wanted.empty()) {
    return NotFound("--tf-signature: the SavedModel has no signature '" + std::string(wanted) +
                    "'" + (names.empty() ? "" : ", only " + names));
  }
  if (signatures.size() == 1) return signatures.front().message;
  if (signatures.empty()) return std::string_view();
  return Malformed("the SavedModel has no signature 'serving_default', and several others: " +
                   names + "; --tf-signature chooses one");
}

Status AddTensors(const Api& api, TF_Graph* graph, std::string_view signature, uint32_t field,
                  std::vector<GraphTensor>& out) {
  for (const auto& [key, info] : MapEntries(signature, field)) {
    const std::string_view tensor = FieldBytes(info, kTensorInfoName);
    if (tensor.empty()) {
      return Unimplemented("'" + std::string(key) +
                           "' of the SavedModel is not one dense tensor; only those are compared");
    }
    VERNIER_ASSIGN_OR_RETURN(const TF_Output output, FindTensor(api, graph, tensor));
    out.push_back(Describe(api, graph, output, std::string(key)));
  }
  return {};
}

Handle<TF_SessionOptions> OptionsFrom(const Api& api, const SessionConfig& config,
                                      const Outcome& outcome) {
  Handle<TF_SessionOptions> options(api.TF_NewSessionOptions(), api.TF_DeleteSessionOptions);
  api.TF_SetConfig(options.get(), config.data(), config.size(), outcome.get());
  return options;
}

std::string BytesOf(const TF_Buffer* buffer) {
  return {static_cast<const char*>(buffer->data), buffer->length};
}

}  // namespace

Status ImportGraph(const Api& api, std::string_view graph_def, const std::string& what,
                   TF_Graph* graph) {
  // Borrowed, however large: TF_NewBufferFromString would copy all weights.
  TF_Buffer buffer{graph_def.data(), graph_def.size(), nullptr};
  const Handle<TF_ImportGraphDefOptions> options(api.TF_NewImportGraphDefOptions(),
                                                 api.TF_DeleteImportGraphDefOptions);
  const Outcome outcome(api);
  api.TF_GraphImportGraphDef(graph, &buffer, options.get(), outcome.get());
  if (outcome.ok()) return {};
  return Malformed("Could not import TensorFlow GraphDef from: " + what +
                   ". Is this a valid TensorFlow model? (" + outcome.message() + ")");
}

Result<SessionHandle> NewSession(const Api& api, TF_Graph* graph, const SessionConfig& config) {
  const Outcome outcome(api);
  const Handle<TF_SessionOptions> options = OptionsFrom(api, config, outcome);
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "configuring the session"));
  SessionHandle session(api.TF_NewSession(graph, options.get(), outcome.get()), {&api});
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "making a session"));
  return session;
}

Result<std::string> GraphDefOf(const Api& api, TF_Graph* graph) {
  const Handle<TF_Buffer> buffer(api.TF_NewBuffer(), api.TF_DeleteBuffer);
  const Outcome outcome(api);
  api.TF_GraphToGraphDef(graph, buffer.get(), outcome.get());
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "writing the graph"));
  return BytesOf(buffer.get());
}

Result<std::vector<TensorHandle>> Fetch(const Api& api, TF_Session* session,
                                        const std::vector<TF_Output>& fetches) {
  std::vector<TF_Tensor*> values(fetches.size());
  const Outcome outcome(api);
  api.TF_SessionRun(session, nullptr, nullptr, nullptr, 0, fetches.data(), values.data(),
                    static_cast<int>(fetches.size()), nullptr, 0, nullptr, outcome.get());
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "reading variables"));
  std::vector<TensorHandle> tensors;
  for (TF_Tensor* value : values) tensors.emplace_back(value, api.TF_DeleteTensor);
  return tensors;
}

bool IsSavedModel(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(folder + "/saved_model.pb", error) ||
         std::filesystem::exists(folder + "/saved_model.pbtxt", error);
}

Result<LoadedGraph> LoadSavedModel(const Api& api, const std::string& folder,
                                   std::string_view signature, const SessionConfig& config) {
  LoadedGraph loaded(api);
  const Outcome outcome(api);
  const Handle<TF_SessionOptions> options = OptionsFrom(api, config, outcome);
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "configuring the session"));
  const Handle<TF_Buffer> meta_graph(api.TF_NewBuffer(), api.TF_DeleteBuffer);
  const char* tags[] = {"serve"};
  loaded.session = SessionHandle(
      api.TF_LoadSessionFromSavedModel(options.get(), nullptr, folder.c_str(), tags, 1,
                                       loaded.graph.get(), meta_graph.get(), outcome.get()),
      {&api});
  VERNIER_TRY(outcome.Check(StatusCode::kMalformed, "loading the SavedModel '" + folder + "'"));
  const std::string_view bytes(static_cast<const char*>(meta_graph->data), meta_graph->length);
  VERNIER_ASSIGN_OR_RETURN(const std::string_view chosen, ChooseSignature(bytes, signature));
  VERNIER_TRY(AddTensors(api, loaded.graph.get(), chosen, kSignatureInputs, loaded.inputs));
  VERNIER_TRY(AddTensors(api, loaded.graph.get(), chosen, kSignatureOutputs, loaded.outputs));
  return loaded;
}

}  // namespace vernier::tf
