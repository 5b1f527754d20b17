#include "tensorrt/session/cuda_graph.h"

#include <dlfcn.h>

#include <utility>

struct CUgraph_st;
struct CUgraphExec_st;

namespace vernier::trt {
namespace {

using Graph = ::CUgraph_st*;
using GraphExec = ::CUgraphExec_st*;

// By the driver's names; the suffix is what its header maps the plain one to.
struct GraphFunctions {
  cuda::Code (*StreamBeginCapture)(cuda::Stream, int mode);
  cuda::Code (*StreamEndCapture)(cuda::Stream, Graph* out);
  cuda::Code (*GraphInstantiate)(GraphExec* out, Graph, unsigned long long flags);
  cuda::Code (*GraphLaunch)(GraphExec, cuda::Stream);
  cuda::Code (*GraphExecDestroy)(GraphExec);
  cuda::Code (*GraphDestroy)(Graph);
};

// Memory that an enqueue asks for is no part of the recording.
constexpr int kCaptureModeRelaxed = 2;

template <typename Function>
bool Find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

class DriverGraph final : public CudaGraph {
 public:
  DriverGraph(const GraphFunctions& functions, const CudaDevice& device)
      : functions_(functions), device_(device) {}
  ~DriverGraph() override { Forget(); }

  Status Record(const std::string& key, cuda::Stream stream,
                const std::function<bool()>& enqueue) override {
    Forget();
    VERNIER_TRY(device_.Check(functions_.StreamBeginCapture(stream, kCaptureModeRelaxed),
                              "recording an inference"));
    const bool enqueued = enqueue();
    Graph graph = nullptr;
    const cuda::Code ended = functions_.StreamEndCapture(stream, &graph);
    Status made = device_.Check(ended, "recording an inference");
    if (made.ok() && !enqueued) made = BackendError("TensorRT cannot record this inference");
    if (made.ok()) {
      made = device_.Check(functions_.GraphInstantiate(&exec_, graph, 0), "making a CUDA graph");
    }
    if (graph != nullptr) (void)functions_.GraphDestroy(graph);
    if (made.ok()) key_ = key;
    return made;
  }

  bool Has(const std::string& key) const override { return exec_ != nullptr && key_ == key; }

  Status Launch(cuda::Stream stream) override {
    return device_.Check(functions_.GraphLaunch(exec_, stream), "launching a CUDA graph");
  }

 private:
  void Forget() {
    if (exec_ != nullptr) (void)functions_.GraphExecDestroy(exec_);
    exec_ = nullptr;
    key_.clear();
  }

  GraphFunctions functions_;
  const CudaDevice& device_;
  GraphExec exec_ = nullptr;
  std::string key_;
};

}  // namespace

Result<std::unique_ptr<CudaGraph>> CudaGraph::Make(const CudaDevice& device) {
  void* library = ::dlopen(cuda::kDriverLibrary, RTLD_NOW | RTLD_LOCAL);
  GraphFunctions functions{};
  const bool all = library != nullptr &&
                   Find(library, "cuStreamBeginCapture_v2", functions.StreamBeginCapture) &&
                   Find(library, "cuStreamEndCapture", functions.StreamEndCapture) &&
                   Find(library, "cuGraphInstantiateWithFlags", functions.GraphInstantiate) &&
                   Find(library, "cuGraphLaunch", functions.GraphLaunch) &&
                   Find(library, "cuGraphExecDestroy", functions.GraphExecDestroy) &&
                   Find(library, "cuGraphDestroy", functions.GraphDestroy);
  if (!all) return Unavailable("--cuda-graphs: this driver has no CUDA graphs");
  return std::unique_ptr<CudaGraph>(std::make_unique<DriverGraph>(functions, device));
}

}  // namespace vernier::trt
