// One runner by itself: a model that stays open.
#include "bindings.h"
#include "caller.h"
#include "option_words.h"
#include "own_thread.h"
#include "python_logger.h"
#include "run/live/inference_scheduler.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// Name, type, shape; -1 or a name for a dynamic dimension, None for an unknown rank.
using Signature = std::vector<std::tuple<std::string, std::string, nb::object>>;

Signature SignatureOf(std::span<const TensorInfo> infos) {
  Signature signature;
  for (const TensorInfo& info : infos) {
    nb::object shape = nb::none();
    if (info.shape) {
      nb::list dims;
      for (const Dim& dim : *info.shape) {
        if (dim.dynamic() && !dim.symbol.empty()) {
          dims.append(dim.symbol);
        } else {
          dims.append(dim.value);
        }
      }
      shape = nb::tuple(dims);
    }
    signature.emplace_back(info.name, std::string(DTypeName(info.dtype)), std::move(shape));
  }
  return signature;
}

class OpenRunner {
 public:
  OpenRunner(const CallOptions& options, const std::vector<std::string>& environment,
             const std::string& python, nb::object log, int threshold)
      : logger_(std::move(log), threshold) {
    words_ = Check(ReadOptions("run", options, logger_));
    plan_ = Check(BindRun(words_.args, words_.invocation, logger_));
    Check(CheckRun(plan_));
    if (plan_.runners.size() != 1) throw StatusError{InvalidArgument("expected one runner")};
    AddBefore(environment, plan_.execution.environment);
    if (plan_.execution.python.empty()) plan_.execution.python = python;
    objects_.keeps_outputs = true;
    live_.emplace(plan_, thread_.interrupted(), logger_, &objects_);
    Do([&]() -> Status {
      live_->Start();
      VERNIER_TRY(live_->Open(0));
      return (*live_)[0].failure();
    });
  }

  ~OpenRunner() {
    // Whoever drops a runner without closing it has no use for an error of its end.
    try {
      Close();
    } catch (const StatusError&) {       // NOLINT: nothing can be done
    } catch (const nb::python_error&) {  // NOLINT
    }
  }

  IterationTuple Infer(NamedTensors feed) {
    if (!live_) throw StatusError{InvalidArgument("the runner is closed")};
    TensorMap inputs = ToMap(std::move(feed));
    IterationResult result;
    Do([&]() -> Status {
      VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> made,
                               live_->Infer(0, inputs, iteration_++));
      if (!made) return (*live_)[0].failure();
      result = *std::move(made);
      return {};
    });
    return FromResult(result);
  }

  void Close() {
    if (!live_) return;
    Status status;
    thread_.Do([&] {
      live_->Close(0);
      status = (*live_)[0].failure();
      live_.reset();
    });
    if (!failed_) Check(status);
  }

  Signature Inputs() { return live_ ? SignatureOf((*live_)[0].session().inputs) : Signature(); }
  Signature Outputs() { return live_ ? SignatureOf((*live_)[0].session().outputs) : Signature(); }
  std::string Name() const { return plan_.runners[0].name; }

 private:
  template <typename Work>
  void Do(const Work& work) {
    Status status;
    thread_.Do([&] { status = work(); });
    failed_ |= !status.ok();
    Check(status);
  }

  PythonLogger logger_;
  Words words_;
  RunPlan plan_;
  Embedder objects_;
  OwnThread thread_;
  std::optional<InferenceScheduler> live_;
  int64_t iteration_ = 0;
  bool failed_ = false;
};

}  // namespace

void BindRunner(nb::module_& module) {
  nb::class_<OpenRunner>(module, "OpenRunner")
      .def(nb::init<const CallOptions&, const std::vector<std::string>&, const std::string&,
                    nb::object, int>(),
           nb::arg("options"), nb::arg("environment"), nb::arg("python"), nb::arg("log"),
           nb::arg("threshold"))
      .def("infer", &OpenRunner::Infer)
      .def("close", &OpenRunner::Close)
      .def("inputs", &OpenRunner::Inputs)
      .def("outputs", &OpenRunner::Outputs)
      .def_prop_ro("name", &OpenRunner::Name);
}

}  // namespace vernier::python
