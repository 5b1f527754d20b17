#include "backend/worker/worker_server.h"

#include <fcntl.h>
#include <poll.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "backend/plugin/device_tensors.h"
#include "backend/plugin/plugin.h"
#include "backend/wire/measure_messages.h"
#include "backend/wire/messages.h"
#include "backend/wire/trial_messages.h"
#include "backend/worker/image_messages.h"
#include "kernels/measures/pair_measures.h"
#include "util/files/mapped_file.h"

namespace vernier {
namespace {

constexpr int kCannotExecute = 127;  // as shells say it

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Freed memory otherwise stays with the process, in case that it wants it again.
void TrimHeap() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

struct Reply {
  MessageWriter body;
  UniqueFd memory;
  // Released after the answer was sent: the parent does not wait for its pages to be unmapped.
  TensorMap feed;
};

struct OpenSession {
  std::shared_ptr<const MappedFile> model;  // outlives the session, which may read it lazily
  std::unique_ptr<PluginSession> session;
};

class WorkerServer {
 public:
  explicit WorkerServer(Channel channel) : channel_(std::move(channel)) {}

  int Serve() {
    while (true) {
      Result<std::optional<Frame>> frame = TakeRequest();
      if (!frame.ok()) return 1;
      if (!frame->has_value()) return 0;
      // The parent has closed the connection, and no one else sends requests.
      if (!Answer(std::move(**frame)).ok()) return 0;
    }
  }

 private:
  Status Answer(Frame frame) {
    if (static_cast<MessageType>(frame.type) == MessageType::kTakeBack) {
      TakeBack(frame);
      return {};
    }
    Result<Reply> reply = Dispatch(frame);
    MessageWriter message;
    EncodeStatus(reply.status(), message);
    if (reply.ok()) message.Append(reply->body.bytes());
    const std::lock_guard lock(sending_);
    return channel_.Send(static_cast<uint32_t>(MessageType::kReply), message.bytes(),
                         reply.ok() ? reply->memory.get() : -1);
  }

  Result<Reply> Dispatch(Frame& frame) {
    MessageReader in(frame.body);
    switch (static_cast<MessageType>(frame.type)) {
      case MessageType::kLoad:
        return Load(in);
      case MessageType::kOpen:
        return Open(in, frame.fd);
      case MessageType::kRun:
        return Run(frame, in, {devices_, OutputPlace::kHost, in.Number<uint64_t>()});
      case MessageType::kRunStep: {
        RunStepRequest request = RunStepRequest::Decode(in);
        for (const uint64_t handle : request.released) devices_.Release(handle);
        return Run(frame, in,
                   {.tensors = devices_,
                    .session = request.session,
                    .fed_back = {},
                    .kept = std::move(request.kept)});
      }
      case MessageType::kRunAndKeep: {
        const RunAndKeepRequest request = RunAndKeepRequest::Decode(in);
        for (const uint64_t handle : request.released) devices_.Release(handle);
        return Run(frame, in, {devices_, OutputPlace::kDevice, request.session});
      }
      case MessageType::kHashInputs:
        hashing_.insert(in.Number<uint64_t>());
        return Reply{};
      case MessageType::kReset:
        return Reset(in);
      case MessageType::kTryRun:
        return TryRun(frame, in);
      case MessageType::kClose: {
        const auto session = in.Number<uint64_t>();
        hashing_.erase(session);
        devices_.ReleaseSession(session);
        sessions_.erase(session);
        return Reply{};
      }
      case MessageType::kTrim:
        TrimHeap();
        return Reply{};
      case MessageType::kMeasureKept:
        return Measure(in);
      case MessageType::kFetchKept:
        return Fetch(in);
      case MessageType::kReadImage:
        return Read(in);
      default:
        return Internal("unknown request " + std::to_string(frame.type));
    }
  }

  void TakeBack(const Frame& frame) {
    MessageReader in(frame.body);
    const size_t count = in.Count(sizeof(uint64_t));
    for (size_t i = 0; i < count && plugin_ != nullptr; ++i) {
      plugin_->TakeBack(in.Number<uint64_t>());
    }
  }

  Result<Reply> Load(MessageReader& in) {
    const LoadRequest request = LoadRequest::Decode(in);
    if (!in.finished()) return Internal("malformed load request");
    Reply reply;
    if (request.plugin_paths.empty()) {
      BackendInfo{"images", "", "", ""}.Encode(reply.body);
      return reply;
    }
    VERNIER_ASSIGN_OR_RETURN(plugin_,
                             Plugin::Load(request, [this](int severity, std::string_view text) {
                               SendLog(severity, text);
                             }));
    plugin_->info().Encode(reply.body);
    return reply;
  }

  Result<Reply> Open(MessageReader& in, const UniqueFd& memory) {
    const OpenRequest request = OpenRequest::Decode(in);
    if (!in.finished() || plugin_ == nullptr) return Internal("malformed open request");
    OpenSession entry;
    if (request.model_bytes > 0) {
      VERNIER_ASSIGN_OR_RETURN(
          entry.model,
          MappedFile::FromDescriptor(memory.get(), static_cast<size_t>(request.model_bytes),
                                     request.model_path));
    }
    const auto start = std::chrono::steady_clock::now();
    VERNIER_ASSIGN_OR_RETURN(
        entry.session,
        plugin_->Open(
            request, entry.model != nullptr ? entry.model->bytes() : std::span<const std::byte>()));
    const double seconds = SecondsSince(start);
    VERNIER_ASSIGN_OR_RETURN(SessionDescription description, entry.session->Describe());
    description.load_seconds = seconds;
    description.takes_steps = true;
    Reply reply;
    description.Encode(reply.body);
    sessions_[request.session] = std::move(entry);
    return reply;
  }

  Result<std::optional<Frame>> TakeRequest() {
    if (!early_) return channel_.Receive();
    return *std::exchange(early_, std::nullopt);
  }

  // A request that has arrived while an inference goes on: the feed of the same session's next one,
  // where it is that. What else it may be is kept for its turn.
  const TensorMap* NextFeed(uint64_t session) {
    while (!early_ && HasArrived()) {
      Result<std::optional<Frame>> frame = channel_.Receive();
      const bool is_request = frame.ok() && frame->has_value();
      if (is_request && static_cast<MessageType>((*frame)->type) == MessageType::kTakeBack) {
        TakeBack(**frame);
        continue;
      }
      early_.emplace(std::move(frame));
      if (is_request) DecodeEarly(session);
    }
    return early_feed_ && early_feed_->ok() ? &(*early_feed_)->tensors : nullptr;
  }

  // Whether receiving would not wait; also for the end of the connection.
  bool HasArrived() const {
    pollfd ready{channel_.descriptor(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  }

  void DecodeEarly(uint64_t session) {
    Frame& frame = ***early_;
    MessageReader in(frame.body);
    if (static_cast<MessageType>(frame.type) != MessageType::kRun) return;
    if (in.Number<uint64_t>() != session) return;
    early_feed_ = DecodeTensors(in.rest(), std::move(frame.fd), feeds_);
  }

  Result<Reply> Run(Frame& frame, MessageReader& in, RunPlaces places) {
    // Of this request, whatever becomes of it.
    std::optional<Result<DecodedBlock>> early = std::exchange(early_feed_, std::nullopt);
    const auto found = sessions_.find(places.session);
    if (found == sessions_.end()) return Internal("run of a session that is not open");
    // The parent knows by the answer that it can write to the feed's memory again.
    (void)feeds_->Take();
    VERNIER_ASSIGN_OR_RETURN(
        DecodedBlock feed,
        early ? *std::move(early) : DecodeTensors(in.rest(), std::move(frame.fd), feeds_));
    VERNIER_TRY(ResolveLastStep(places.kept, places.session, devices_, feed));
    VERNIER_ASSIGN_OR_RETURN(places.fed_back, FindFedBack(feed, devices_));
    places.next_feed = [this, session = places.session] { return NextFeed(session); };
    // Before the framework has them, and of the memory that it reads.
    std::optional<InputHashes> hashes;
    if (hashing_.contains(places.session)) {
      VERNIER_ASSIGN_OR_RETURN(hashes, HashesOf(feed, devices_));
    }
    VERNIER_ASSIGN_OR_RETURN(PluginSession::Outcome outcome,
                             found->second.session->Run(feed.tensors, places));
    Reply reply;
    reply.feed = std::move(feed.tensors);
    reply.body.Number(outcome.inference_seconds);
    if (hashes) EncodeHashes(*hashes, reply.body);
    reply.body.Append(outcome.outputs.description);
    reply.memory = std::move(outcome.outputs.memory);
    return reply;
  }

  Result<Reply> Reset(MessageReader& in) {
    const auto found = sessions_.find(in.Number<uint64_t>());
    if (found == sessions_.end()) return Internal("reset of a session that is not open");
    VERNIER_TRY(found->second.session->Reset());
    return Reply{};
  }

  Result<Reply> TryRun(Frame& frame, MessageReader& in) {
    const TrialRequest request = TrialRequest::Decode(in);
    const auto found = sessions_.find(request.session);
    if (in.failed() || found == sessions_.end()) return Internal("malformed request for a trial");
    VERNIER_ASSIGN_OR_RETURN(const DecodedBlock feed,
                             DecodeTensors(in.rest(), std::move(frame.fd)));
    VERNIER_ASSIGN_OR_RETURN(const TrialInputs inputs,
                             TrialInputs::Make(feed.tensors, request.shift));
    plugin_->FillOutputs(request.fill);
    Result<PluginSession::Outcome> outcome = found->second.session->Run(
        inputs.tensors(), {devices_, OutputPlace::kHost, request.session});
    const uint64_t placed = plugin_->placed_outputs();
    plugin_->FillOutputs(std::nullopt);
    VERNIER_TRY(outcome.status());
    Reply reply;
    TrialReport{inputs.FindWritten(), placed}.Encode(reply.body);
    reply.body.Append(outcome->outputs.description);
    reply.memory = std::move(outcome->outputs.memory);
    return reply;
  }

  Result<Reply> Measure(MessageReader& in) {
    const OwnedTensor* const a = devices_.Find(in.Number<uint64_t>());
    const OwnedTensor* const b = devices_.Find(in.Number<uint64_t>());
    const MeasureRequest request = DecodeRequest(in);
    if (!in.finished() || a == nullptr || b == nullptr) {
      return Internal("malformed request to measure outputs");
    }
    VERNIER_ASSIGN_OR_RETURN(const PairMeasures measures, devices_.Measure(*a, *b, request));
    Reply reply;
    EncodeMeasures(measures, reply.body);
    return reply;
  }

  Result<Reply> Fetch(MessageReader& in) {
    const OwnedTensor* const tensor = devices_.Find(in.Number<uint64_t>());
    if (!in.finished() || tensor == nullptr) return Internal("malformed request for an output");
    const vn_tensor& t = tensor->abi();
    TensorBlockBuilder builder;
    builder.AddFilled({t.name.data, t.name.size}, tensor->dtype(), std::span(t.shape, t.rank),
                      t.byte_size, [&](auto to) { return devices_.CopyToHost(t, to); });
    VERNIER_ASSIGN_OR_RETURN(TensorBlock block, builder.Finish());
    Reply reply;
    reply.body.Append(block.description);
    reply.memory = std::move(block.memory);
    return reply;
  }

  static Result<Reply> Read(MessageReader& in) {
    const ImageRequest request = ImageRequest::Decode(in);
    if (!in.finished()) return Internal("malformed request for an image");
    VERNIER_ASSIGN_OR_RETURN(const ReadImage image, ReadImageFile(request));
    VERNIER_ASSIGN_OR_RETURN(TensorBlock block, EncodeTensors({{"image", image.tensor}}));
    Reply reply;
    reply.body.Number(image.remarks);
    reply.body.Number(image.size.height);
    reply.body.Number(image.size.width);
    reply.body.Append(block.description);
    reply.memory = std::move(block.memory);
    return reply;
  }

  void SendLog(int severity, std::string_view text) {
    MessageWriter message;
    message.Number(static_cast<int32_t>(severity));
    message.Text(text);
    const std::lock_guard lock(sending_);
    // A parent that is gone is noticed by the next Receive.
    (void)channel_.Send(static_cast<uint32_t>(MessageType::kLog), message.bytes());
  }

  Channel channel_;
  std::mutex sending_;  // frameworks log from threads of their own
  std::unique_ptr<Plugin> plugin_;
  std::shared_ptr<Loans> feeds_ = std::make_shared<Loans>();
  // What was received before its turn, and the feed in it, if it is one.
  std::optional<Result<std::optional<Frame>>> early_;
  std::optional<Result<DecodedBlock>> early_feed_;
  std::set<uint64_t> hashing_;                // sessions
  std::map<uint64_t, OpenSession> sessions_;  // after plugin_: closed before it is destroyed
  DeviceTensors devices_;                     // after sessions_: its tensors go before those
};

}  // namespace

int ServeWorker(Channel channel) { return WorkerServer(std::move(channel)).Serve(); }

namespace {

// False when the parent is gone already.
bool PrepareProcess(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above.
  if (::getppid() != parent) return false;
  // One byte: too little for a core file, and unlike zero it also stops a kernel that pipes cores
  // to a program, which would keep a dead worker alive for as long as that takes (core(5)).
  const rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  return true;
}

}  // namespace

int RunWorkerProcess(int fd, int parent) {
  if (!PrepareProcess(parent)) return 1;
  // What a framework starts must not hold our connection.
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int status = ServeWorker(Channel(UniqueFd(fd)));
  // Not exit(): destructors of frameworks that are only half unloaded are a classic way to crash.
  ::_exit(status);
}

// What the process was set up for survives exec, so the program needs to know nothing of it.
int BecomeWorkerProgram(int fd, int parent, std::span<const std::string> program) {
  if (!PrepareProcess(parent)) return 1;
  std::vector<std::string> words(program.begin(), program.end());
  words.push_back(std::to_string(fd));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  std::fprintf(stderr, "'%s' cannot be started: %s\n", arguments[0], std::strerror(errno));
  return kCannotExecute;
}

}  // namespace vernier
