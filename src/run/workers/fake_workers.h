// Workers for tests: threads that speak the protocol of plug-ins' workers, and whose models answer,
// fail, hang and die as the test says. What asks them is the program's own Worker.
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/wire/channel.h"
#include "backend/wire/messages.h"
#include "model/onnx/model_type.h"
#include "run/workers/worker_source.h"
#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier::testing_workers {

/// What comes of one inference.
struct FakeAnswer {
  enum class Kind : uint8_t {
    kOutputs,
    kDeath,   ///< the worker is gone, as after a crash
    kSilence  ///< nothing comes, as of a framework that hangs
  };
  Kind kind = Kind::kOutputs;
  Result<TensorMap> outputs = TensorMap();  ///< an error is what the framework says
};

inline FakeAnswer Dies() { return {FakeAnswer::Kind::kDeath}; }
inline FakeAnswer Hangs() { return {FakeAnswer::Kind::kSilence}; }
inline FakeAnswer Refuses(std::string why) {
  return {FakeAnswer::Kind::kOutputs, BackendError(std::move(why))};
}

/// A model of the fake backend, by the path that plans name it with.
struct FakeModel {
  std::vector<TensorInfo> inputs, outputs;
  /// Called on the worker's thread with the number of the inference (0, 1, ... in this session).
  std::function<FakeAnswer(const TensorMap& feed, int64_t run)> infer;
  Status open = {};  ///< an error: it cannot be opened
  /// Called on the worker's thread when its state is reset; empty: it keeps none.
  std::function<void()> reset = {};
};

/// A runner for each model, with its name.
inline std::vector<RunnerPlan> RunnersOf(const std::map<std::string, FakeModel>& models) {
  std::vector<RunnerPlan> runners;
  for (const auto& [name, model] : models) {
    RunnerPlan& runner = runners.emplace_back();
    runner.name = name;
    runner.backend = "fake";
    runner.model.path = name;
    runner.model.type = ModelTypeName(ModelType::kEngine);
  }
  return runners;
}

inline Tensor Floats(Dims dims, const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

/// A float32 tensor's name, type and shape, all sizes fixed.
inline TensorInfo FloatInfo(std::string name, const Dims& dims) {
  TensorInfo info{std::move(name), DType::kFloat32, std::vector<Dim>()};
  for (const int64_t size : dims) info.shape->push_back({size, {}});
  return info;
}

/// y = x + `by` of four elements, but for what `instead` says of an inference; nullopt: nothing.
using Instead = std::function<std::optional<FakeAnswer>(int64_t run)>;
inline FakeModel Adds(float by, Instead instead = {}) {
  FakeModel model;
  model.inputs = {FloatInfo("x", {4})};
  model.outputs = {FloatInfo("y", {4})};
  model.infer = [by, instead](const TensorMap& feed, int64_t run) {
    if (instead) {
      if (std::optional<FakeAnswer> other = instead(run)) return *std::move(other);
    }
    std::vector<float> values;
    for (const float x : feed.front().tensor.As<float>()) values.push_back(x + by);
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats({4}, values)}}};
  };
  return model;
}

/// Only in inference number `run`, or from there on.
inline Instead InRun(int64_t run, FakeAnswer answer) {
  return [run, answer](int64_t now) { return now == run ? std::optional(answer) : std::nullopt; };
}
inline Instead FromRun(int64_t run, FakeAnswer answer) {
  return [run, answer](int64_t now) { return now >= run ? std::optional(answer) : std::nullopt; };
}

/// Ends with the connection, or when a model dies.
class FakeServer {
 public:
  FakeServer(Channel channel, const std::map<std::string, FakeModel>& models)
      : channel_(std::move(channel)), models_(models) {}

  void Serve() {
    while (true) {
      Result<std::optional<Frame>> frame = channel_.Receive();
      if (!frame.ok() || !frame->has_value() || !Answer(**frame)) return;
    }
  }

 private:
  struct Session {
    const FakeModel* model = nullptr;
    int64_t runs = 0;
  };

  bool Answer(Frame& frame) {
    MessageReader in(frame.body);
    switch (static_cast<MessageType>(frame.type)) {
      case MessageType::kTakeBack:
        return true;
      case MessageType::kLoad:
        return Reply(Load());
      case MessageType::kOpen:
        return Reply(Open(OpenRequest::Decode(in)));
      case MessageType::kRun:
        return Run(in, std::move(frame.fd));
      case MessageType::kRunAndKeep: {
        const RunAndKeepRequest request = RunAndKeepRequest::Decode(in);
        return Run(sessions_[request.session], in, std::move(frame.fd));
      }
      case MessageType::kReset:
        sessions_[in.Number<uint64_t>()].model->reset();
        return Reply(MessageWriter());
      case MessageType::kClose:
        return Reply(MessageWriter());
      default:
        return Reply(Internal("the fake does not serve this request"));
    }
  }

  static Result<MessageWriter> Load() {
    MessageWriter body;
    BackendInfo{"fake", "1", "2.0", "/fake/libframework.so"}.Encode(body);
    return body;
  }

  Result<MessageWriter> Open(const OpenRequest& request) {
    const auto found = models_.find(request.model_path);
    if (found == models_.end()) return BackendError("no such model: " + request.model_path);
    VERNIER_TRY(found->second.open);
    sessions_[request.session] = {&found->second, 0};
    MessageWriter body;
    SessionDescription description;
    description.inputs = found->second.inputs;
    description.outputs = found->second.outputs;
    description.precision = "float32";
    description.device = "cpu";
    description.keeps_state = static_cast<bool>(found->second.reset);
    description.Encode(body);
    return body;
  }

  bool Run(MessageReader& in, UniqueFd memory) {
    const auto session = in.Number<uint64_t>();
    return Run(sessions_[session], in, std::move(memory));
  }

  bool Run(Session& session, MessageReader& in, UniqueFd memory) {
    (void)loans_->Take();  // by the answer the sender knows that it has its memory back
    const Result<DecodedBlock> feed = DecodeTensors(in.rest(), std::move(memory), loans_);
    if (!feed.ok()) return Reply(feed.status());
    const FakeAnswer answer = session.model->infer(feed->tensors, session.runs++);
    if (answer.kind == FakeAnswer::Kind::kDeath) return false;
    if (answer.kind == FakeAnswer::Kind::kSilence) return true;
    if (!answer.outputs.ok()) return Reply(answer.outputs.status());
    const Result<TensorBlock> block = EncodeTensors(*answer.outputs);
    if (!block.ok()) return Reply(block.status());
    MessageWriter body;
    body.Number(1e-4);  // seconds
    body.Append(block->description);
    return Reply(std::move(body), block->memory.get());
  }

  bool Reply(const Result<MessageWriter>& body, int memory = -1) {
    MessageWriter message;
    EncodeStatus(body.status(), message);
    if (body.ok()) message.Append(body->bytes());
    return channel_.Send(static_cast<uint32_t>(MessageType::kReply), message.bytes(), memory).ok();
  }

  Channel channel_;
  const std::map<std::string, FakeModel>& models_;
  std::map<uint64_t, Session> sessions_;
  std::shared_ptr<Loans> loans_ = std::make_shared<Loans>();
};

/// Must outlive the run.
class FakeWorkers final : public WorkerSource {
 public:
  /// `timeout_s` is --timeout.
  FakeWorkers(std::map<std::string, FakeModel> models, const std::atomic<int>& interrupted,
              Logger& logger, double timeout_s = 10)
      : models_(std::move(models)),
        interrupted_(interrupted),
        logger_(logger),
        timeout_s_(timeout_s) {}

  ~FakeWorkers() override {
    for (std::thread& server : servers_) server.join();
  }

  Result<std::unique_ptr<Worker>> StartFor(const RunnerPlan& runner) override {
    if (runner.backend != "fake")
      return Unavailable("there is no backend '" + runner.backend + "'");
    environments_.push_back(runner.environment);
    VERNIER_ASSIGN_OR_RETURN(auto ends, Channel::CreatePair());
    servers_.emplace_back([this, end = std::move(ends.second)]() mutable {
      FakeServer(std::move(end), models_).Serve();
    });
    WorkerOptions options;
    options.served.Reset(::dup(ends.first.descriptor()));
    options.in_process = true;  // it serves a plug-in, for all that can be seen
    options.timeout_s = timeout_s_;
    options.interrupted = &interrupted_;
    return Worker::Start(std::move(options), logger_);
  }

  Result<std::unique_ptr<Worker>> StartForScripts() override {
    return Unavailable("there is no Python");
  }

  bool HasPluginToo(const RunnerPlan&) const override { return false; }

  /// So many workers were started.
  size_t started() const { return servers_.size(); }
  /// RunnerPlan::environment of each.
  const std::vector<std::vector<std::string>>& environments() const { return environments_; }

 private:
  const std::map<std::string, FakeModel> models_;
  const std::atomic<int>& interrupted_;
  Logger& logger_;
  double timeout_s_;
  std::vector<std::thread> servers_;
  std::vector<std::vector<std::string>> environments_;
};

}  // namespace vernier::testing_workers
