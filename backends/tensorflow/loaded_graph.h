// A model as TensorFlow holds it: the graph, a session with its variables, and what the file says
// of inputs and outputs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph_tensors.h"
#include "tf_api.h"
#include "tf_tensor.h"

namespace vernier::tf {

/// Closes the session before it is deleted.
struct SessionDeleter {
  const Api* api = nullptr;
  void operator()(TF_Session* session) const {
    const Outcome outcome(*api);
    api->TF_CloseSession(session, outcome.get());
    api->TF_DeleteSession(session, outcome.get());
  }
};
using SessionHandle = std::unique_ptr<TF_Session, SessionDeleter>;

struct LoadedGraph {
  explicit LoadedGraph(const Api& api) : graph(api.TF_NewGraph(), api.TF_DeleteGraph) {}

  Handle<TF_Graph> graph;
  SessionHandle session;
  GraphRules rules;
  /// Of a SavedModel's signature; empty: found by the rules.
  std::vector<GraphTensor> inputs, outputs;
};

/// How sessions are made: a serialized ConfigProto.
using SessionConfig = std::string;

/// Adds a serialized GraphDef to the graph. kMalformed when it is none; `what` names it.
Status ImportGraph(const Api& api, std::string_view graph_def, const std::string& what,
                   TF_Graph* graph);

/// A session over the graph as it is.
Result<SessionHandle> NewSession(const Api& api, TF_Graph* graph, const SessionConfig& config);

/// The graph as a serialized GraphDef.
Result<std::string> GraphDefOf(const Api& api, TF_Graph* graph);

/// One run: `fetches` of the session, after `targets` have been executed.
Result<std::vector<TensorHandle>> Fetch(const Api& api, TF_Session* session,
                                        const std::vector<TF_Output>& fetches);

/// A SavedModel's folder, with its "serve" graph and the signature of that name; without a name
/// `serving_default`, else the only one. kMalformed as TensorFlow says, kNotFound for the name.
Result<LoadedGraph> LoadSavedModel(const Api& api, const std::string& folder,
                                   std::string_view signature, const SessionConfig& config);
bool IsSavedModel(const std::string& folder);

/// Is this one of a checkpoint's files with a graph, `folder`/`name`.meta, or that without `.meta`?
bool IsCheckpointFile(const std::string& path);

/// A checkpoint `folder`/`name`.meta with its variables; without a name the one that the folder's
/// file `checkpoint` says. kMalformed with what is missing.
Result<LoadedGraph> LoadCheckpoint(const Api& api, const std::string& folder, std::string name,
                                   const SessionConfig& config);

/// The same graph with constants in place of variables, and without what the outputs do not need.
/// kUnimplemented where functions use the variables.
Result<LoadedGraph> FreezeGraph(const Api& api, const LoadedGraph& loaded,
                                const std::vector<GraphTensor>& outputs,
                                const SessionConfig& config);

}  // namespace vernier::tf
