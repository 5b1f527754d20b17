#include "blame/probe_side.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "inputs/cast_tensor.h"
#include "inputs/coerce_feed.h"
#include "run/model_source.h"
#include "util/first_line.h"
#include "util/unique_fd.h"

namespace vernier {
namespace {

// After so many failures the tensors of a set that fails again are given up together.
constexpr int64_t kMostFailures = 64;

class Stopwatch {
 public:
  explicit Stopwatch(RuntimeClock& clock) : clock_(clock) {}
  ~Stopwatch() {
    clock_.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  RuntimeClock& clock_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool EndsEverything(const Status& status) { return status.code() == StatusCode::kCancelled; }

// A float32 model against the same in float16: one feed for both.
Result<TensorMap> CastFloats(TensorMap feed, std::span<const TensorInfo> inputs) {
  for (NamedTensor& fed : feed) {
    for (const TensorInfo& input : inputs) {
      const bool floats =
          Kind(input.dtype) == DTypeKind::kFloat && Kind(fed.tensor.dtype()) == DTypeKind::kFloat;
      if (input.name != fed.name || !floats || input.dtype == fed.tensor.dtype()) continue;
      VERNIER_ASSIGN_OR_RETURN(fed.tensor, CastTensor(fed.tensor, input.dtype));
    }
  }
  return feed;
}

}  // namespace

ProbeSide::ProbeSide(const RunnerPlan& plan, const std::string& role, WorkerPool& pool,
                     Logger& logger, RuntimeClock& clock)
    : plan_(plan), pool_(pool), logger_(logger), clock_(clock) {
  if (!role.empty()) plan_.name += ", " + role;
  plan_.model.save_path.clear();
  plan_.model.print_summary = false;
}

Result<std::shared_ptr<const OnnxModel>> ProbeSide::ReadModel() const {
  if (plan_.model.type != "onnx") {
    return InvalidArgument("blame follows the graph of an ONNX model, but '" + plan_.name +
                           "' runs '" + plan_.model.path + "', of type " + plan_.model.type);
  }
  VERNIER_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::Open(plan_.model.path));
  return std::make_shared<const OnnxModel>(std::move(model));
}

void ProbeSide::Start() {
  // What is wrong with it shows when a session is opened.
  if (Result<std::shared_ptr<Worker>> worker = pool_.Get(plan_); worker.ok()) worker_ = *worker;
}

Result<std::unique_ptr<LiveRunner>> ProbeSide::Open(const ModelSource& model,
                                                    const OptionList& more) {
  const Stopwatch watch(clock_);
  ++clock_.opened;
  auto session = std::make_unique<LiveRunner>(plan_);
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool_.Get(plan_));
  worker_ = worker;
  session->Attach(std::move(worker), next_session_++);
  const Status opened = session->Open(model, more);
  if (opened.ok()) return session;
  worker_.reset();
  (void)session->Close();
  return opened;
}

Result<std::unique_ptr<LiveRunner>> ProbeSide::OpenPlain(const OptionList& more) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::shared_ptr<const ModelSource> model,
      ModelSource::Prepare(plan_.model, logger_, [this] { return pool_.GetForScripts(); }));
  return Open(*model, more);
}

Result<std::unique_ptr<LiveRunner>> ProbeSide::OpenMarked(const std::vector<std::string>& outputs) {
  ModelPlan marked = plan_.model;
  marked.outputs = outputs;
  marked.exclude_outputs.clear();
  marked.outputs_by_type.clear();
  VERNIER_ASSIGN_OR_RETURN(
      const std::shared_ptr<const ModelSource> model,
      ModelSource::Prepare(marked, logger_, [this] { return pool_.GetForScripts(); }));
  return Open(*model);
}

Result<std::unique_ptr<LiveRunner>> ProbeSide::OpenParts(
    const BytePieces& model, std::vector<TensorInfo> inputs, std::vector<std::string> outputs,
    const std::function<void(const OnnxModel& model)>& look) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::shared_ptr<const ModelSource> source,
      ModelSource::Assemble(plan_.model, model, std::move(inputs), std::move(outputs)));
  // Its bytes lie in memory already, unless they are too many.
  UniqueFd copied;
  int memory = source->edited_bytes().get();
  if (memory < 0) {
    VERNIER_ASSIGN_OR_RETURN(memory, ToMemfd(model));
    copied = UniqueFd(memory);
  }
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel assembled,
                           OnnxModel::Open("/proc/self/fd/" + std::to_string(memory)));
  look(assembled);
  return Open(*source);
}

Result<TensorMap> ProbeSide::Infer(LiveRunner& session, const TensorMap& feed) {
  if (session.inputs_unknown()) return InferAsIs(session, feed);
  VERNIER_ASSIGN_OR_RETURN(const TensorMap cast, CastFloats(feed, session.session().inputs));
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced,
                           CoerceFeed(cast, session.session().inputs, {}, logger_));
  return InferAsIs(session, coerced.tensors);
}

Result<TensorMap> ProbeSide::InferAsIs(LiveRunner& session, const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  const Stopwatch watch(clock_);
  Result<IterationResult> result = session.Infer(block, 0, nullptr);
  if (result.ok()) return std::move(result->outputs);
  worker_.reset();
  return result.status();
}

void ProbeSide::Close(std::unique_ptr<LiveRunner>& session) {
  if (session != nullptr) (void)session->Close();
  session.reset();
}

void ProbeSide::GiveMemoryBack() {
  if (worker_ != nullptr) worker_->TrimMemory();
}

uint64_t ProbeSide::ResidentMemory() const {
  return worker_ == nullptr ? 0 : worker_->ResidentMemory().value_or(0);
}

ProbeSessions::~ProbeSessions() { CloseAll(); }

void ProbeSessions::CloseAll() {
  for (Group& group : groups_) ProbeSide::Close(group.session);
}

void ProbeSessions::Want(const std::vector<std::string>& names) {
  Group group;
  for (const std::string& name : names) {
    if (asked_.insert(name).second) group.names.push_back(name);
  }
  if (group.names.empty()) return;
  groups_.push_back(std::move(group));
}

Result<TensorMap> ProbeSessions::RunGroup(Group& group, const TensorMap& feed) {
  if (group.session == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(group.session, side_.OpenMarked(group.names));
  }
  return side_.Infer(*group.session, feed);
}

void ProbeSessions::NoteMissing(const Group& group, const TensorMap& outputs) {
  std::unordered_set<std::string_view> there;
  for (const NamedTensor& output : outputs) there.insert(output.name);
  for (const std::string& name : group.names) {
    if (there.contains(name)) continue;
    std::string why = "'" + side_.plan().name + "' did not hand it out";
    for (const SkippedOutput& skipped : group.session->skipped()) {
      if (skipped.name == name) why = "'" + side_.plan().name + "': " + skipped.why;
    }
    const bool known = std::any_of(unexposed_.begin(), unexposed_.end(),
                                   [&](const UnexposedTensor& u) { return u.name == name; });
    if (!known) unexposed_.push_back({name, std::move(why)});
  }
}

void ProbeSessions::Split(size_t index, const Status& why) {
  // A worker that died took the sessions of the other groups along.
  CloseAll();
  ++failures_;
  Group failed = std::move(groups_[index]);
  const auto at = groups_.begin() + static_cast<ptrdiff_t>(index);
  if (failed.names.size() == 1 || failures_ > kMostFailures) {
    for (const std::string& name : failed.names) {
      unexposed_.push_back(
          {name, "'" + side_.plan().name + "' fails with it: " + FirstLine(why.message())});
    }
    groups_.erase(at);
    return;
  }
  Group second;
  const auto middle = failed.names.begin() + static_cast<ptrdiff_t>(failed.names.size() / 2);
  second.names.assign(middle, failed.names.end());
  failed.names.erase(middle, failed.names.end());
  *at = std::move(second);
  groups_.insert(groups_.begin() + static_cast<ptrdiff_t>(index), std::move(failed));
}

Result<TensorMap> ProbeSessions::Run(const TensorMap& feed, const std::vector<std::string>& names) {
  TensorMap all;
  const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
  const auto is_wanted = [&](const std::string& name) { return wanted.contains(name); };
  for (size_t i = 0; i < groups_.size();) {
    if (std::none_of(groups_[i].names.begin(), groups_[i].names.end(), is_wanted)) {
      ++i;
      continue;
    }
    Result<TensorMap> outputs = RunGroup(groups_[i], feed);
    if (!outputs.ok()) {
      if (EndsEverything(outputs.status())) return outputs.status();
      Split(i, outputs.status());
      continue;
    }
    NoteMissing(groups_[i], *outputs);
    if (after_use_ == AfterUse::kClose) ProbeSide::Close(groups_[i].session);
    for (NamedTensor& output : *outputs) all.push_back(std::move(output));
    ++i;
  }
  // Once for all sets: a session opened next would use that memory again.
  if (after_use_ == AfterUse::kClose) side_.GiveMemoryBack();
  return all;
}

}  // namespace vernier
