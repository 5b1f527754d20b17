#include "blame/sides/probe_side.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "blame/sides/foreign_reference.h"
#include "inputs/cast_tensor.h"
#include "inputs/coerce_feed.h"
#include "model/onnx/model_type.h"
#include "record/schema/runner_name.h"
#include "run/runner/engine_use.h"
#include "run/workers/model_source.h"
#include "util/files/unique_fd.h"
#include "util/log/no_log.h"
#include "util/text/first_line.h"

namespace vernier {
namespace {

// After so many failures the tensors of a set that fails again are given up together.
constexpr int64_t kMostProbeFailures = 64;

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

CoerceOptions StrictlyFor(const RunnerSession& session) {
  CoerceOptions options;
  options.advise_lenient = false;
  options.label = WithoutTime(session.name());
  return options;
}

// What to do about a model that is not ONNX.
std::string WayOutOf(const RunnerPlan& plan) {
  if (IsForeign(plan)) return "; beside an ONNX model it can only be the reference";
  if (plan.model.type != ModelTypeName(ModelType::kKeras)) return "";
  return "; save it as a SavedModel, which can be the reference beside an ONNX model";
}

}  // namespace

ProbeSide::ProbeSide(const RunnerPlan& plan, const std::string& role, WorkerPool& pool,
                     Logger& logger, RuntimeClock& clock)
    : plan_(plan),
      pool_(pool),
      logger_(logger),
      clock_(clock),
      builds_engines_(vernier::BuildsEngines(plan.backend)) {
  if (!role.empty()) plan_.name += ", " + role;
  plan_.model.save_path.clear();
  plan_.model.print_summary = false;
  OptionList& options = plan_.backend_options;
  const std::pair<std::string, std::string> one_builder("keep_builder", "1");
  const bool there = std::find(options.begin(), options.end(), one_builder) != options.end();
  if (BuildsEngines() && !there) options.push_back(one_builder);
}

Result<std::shared_ptr<const OnnxModel>> ProbeSide::ReadModel() const {
  if (plan_.model.type != "onnx") {
    return InvalidArgument(
        "blame follows the graph of an ONNX model, but '" + plan_.name + "' runs " +
        (plan_.model.path.empty() ? "a Python script without one" : "'" + plan_.model.path + "'") +
        (plan_.model.type.empty() ? "" : ", of type " + plan_.model.type) + WayOutOf(plan_));
  }
  VERNIER_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::Open(plan_.model.path));
  return std::make_shared<const OnnxModel>(std::move(model));
}

void ProbeSide::Start() {
  // What is wrong with it shows when a session is opened.
  if (Result<std::shared_ptr<Worker>> worker = pool_.Get(plan_); worker.ok()) worker_ = *worker;
}

BackendInfo ProbeSide::Backend() {
  if (worker_ == nullptr) return {};
  const RuntimeClock::Running running(clock_);
  Result<BackendInfo> info = worker_->AwaitLoad();
  if (!info.ok()) return {};
  builds_engines_ |= info->Has(BackendTrait::kBuildsEngines);
  return *std::move(info);
}

std::vector<uint32_t> ReferenceRanks(std::deque<ProbeSide>& sides) {
  for (ProbeSide& side : sides) side.Start();
  std::vector<uint32_t> ranks;
  for (ProbeSide& side : sides) ranks.push_back(side.Backend().reference_rank);
  return ranks;
}

Result<std::shared_ptr<const ModelSource>> ProbeSide::Prepare(const ModelPlan& plan) {
  return ModelSource::Prepare(plan, logger_, [this] { return pool_.GetForScripts(); });
}

ModelPlan ProbeSide::Marked(const std::vector<std::string>& outputs) const {
  ModelPlan marked = plan_.model;
  marked.outputs = outputs;
  marked.exclude_outputs.clear();
  marked.outputs_by_type.clear();
  return marked;
}

Result<std::unique_ptr<RunnerSession>> ProbeSide::NewSession() {
  VERNIER_ASSIGN_OR_RETURN(worker_, pool_.Get(plan_));
  auto session = std::make_unique<RunnerSession>(plan_);
  session->Attach(worker_, next_session_++);
  session->LeaveOutParts();  // no node makes one of them
  return session;
}

Result<std::unique_ptr<RunnerSession>> ProbeSide::Open(const ModelSource& model,
                                                       const OptionList& more) {
  const RuntimeClock::Running running(clock_);
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session, NewSession());
  const Status opened = session->Open(model, more);
  if (opened.ok()) return session;
  worker_.reset();
  (void)session->Close();
  return opened;
}

Result<std::unique_ptr<RunnerSession>> ProbeSide::OpenPlain(const OptionList& more) {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model, Prepare(plan_.model));
  return Open(*model, more);
}

Result<std::unique_ptr<RunnerSession>> ProbeSide::OpenMarked(
    const std::vector<std::string>& outputs) {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           Prepare(Marked(outputs)));
  return Open(*model, MarksOf(plan_, outputs));
}

// Only what this side's worker does is done on the other thread: a worker that is started there
// would end with it, and that of the scripts serves all sides.
Result<SessionAhead> ProbeSide::Ahead(std::shared_ptr<const ModelSource> model,
                                      const OptionList& more, const TensorMap* feed) {
  SessionAhead ahead;
  VERNIER_ASSIGN_OR_RETURN(ahead.session_, NewSession());
  ahead.session_->HoldLog();
  RunnerSession& session = *ahead.session_;
  // If no thread is available, the caller of get() does this synchronously.
  ahead.outputs_ = std::async([this, &session, model, more, feed]() -> Result<TensorMap> {
    const RuntimeClock::Running running(clock_);
    if (Status opened = session.Open(*model, more); !opened.ok()) {
      worker_.reset();
      return opened;
    }
    return feed == nullptr ? TensorMap() : Infer(session, *feed);
  });
  return ahead;
}

Result<SessionAhead> ProbeSide::OpenPlainAhead() {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelSource> model, Prepare(plan_.model));
  return Ahead(std::move(model), {}, nullptr);
}

Result<SessionAhead> ProbeSide::OpenMarkedAhead(const std::vector<std::string>& outputs,
                                                const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelSource> model, Prepare(Marked(outputs)));
  return Ahead(std::move(model), MarksOf(plan_, outputs), &feed);
}

Result<SessionAhead::Ready> SessionAhead::Take() {
  Result<TensorMap> outputs = outputs_.get();
  session_->ReleaseLog();
  if (outputs.ok()) return Ready{std::move(session_), *std::move(outputs)};
  (void)session_->Close();
  return outputs.status();
}

Result<std::unique_ptr<RunnerSession>> ProbeSide::OpenParts(
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

Result<TensorMap> ProbeSide::Infer(RunnerSession& session, const TensorMap& feed) {
  if (session.inputs_unknown()) return InferAsIs(session, feed);
  VERNIER_ASSIGN_OR_RETURN(const TensorMap cast, CastFloats(feed, session.session().inputs));
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, CoerceFeed(cast, session.session().inputs,
                                                                 StrictlyFor(session), logger_));
  return InferAsIs(session, coerced.tensors);
}

Status ProbeSide::Takes(const RunnerSession& session, const TensorMap& feed) {
  if (session.inputs_unknown()) return {};
  NoLog unheard;
  return CoerceFeed(feed, session.session().inputs, StrictlyFor(session), unheard).status();
}

Result<TensorMap> ProbeSide::InferAsIs(RunnerSession& session, const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  const RuntimeClock::Running running(clock_);
  Result<IterationResult> result = session.Infer(block, 0);
  if (result.ok()) return std::move(result->outputs);
  worker_.reset();
  return result.status();
}

Result<TensorMap> ProbeSide::RunOnce(const std::vector<std::string>& outputs,
                                     const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session,
                           outputs.empty() ? OpenPlain() : OpenMarked(outputs));
  Result<TensorMap> made = Infer(*session, feed);
  if (made.ok()) Close(session);
  return made;
}

void ProbeSide::Close(std::unique_ptr<RunnerSession>& session) {
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

void ProbeSessions::Begin(const TensorMap& feed) {
  if (groups_.size() != 1 || groups_[0].session != nullptr) return;
  // What is wrong with it shows in Run().
  Result<SessionAhead> ahead = side_.OpenMarkedAhead(groups_[0].names, feed);
  if (ahead.ok()) groups_[0].ahead = *std::move(ahead);
}

Result<TensorMap> ProbeSessions::RunGroup(Group& group, const TensorMap& feed) {
  if (group.ahead) {
    std::optional<SessionAhead> ahead = std::exchange(group.ahead, std::nullopt);
    VERNIER_ASSIGN_OR_RETURN(SessionAhead::Ready ready, ahead->Take());
    group.session = std::move(ready.session);
    return std::move(ready.outputs);
  }
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
    std::string why = "'" + side_.plan().name + "' did not return it";
    for (const SkippedOutput& skipped : group.session->skipped().all()) {
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
  if (failed.names.size() == 1 || failures_ > kMostProbeFailures) {
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
