// The requests that a worker serves and its answers: plain data and their encoding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/wire/tensor_block.h"
#include "backend/wire/wire.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

enum class MessageType : uint32_t {
  kLoad = 1,
  kOpen = 2,
  kRun = 3,  ///< answered with seconds, hashes where they were asked for, and a block's description
  kClose = 4,
  kOpenScript = 5,  ///< this and the next four: Python workers only, see script_client.h
  kNextFeed = 6,
  kCompare = 7,
  kPostprocess = 8,
  kMeasure = 9,
  kMeasureKept = 10,  ///< two kept outputs against each other
  kFetchKept = 11,    ///< the bytes of a kept output
  kRunAndKeep = 12,   ///< kRun whose outputs on a device may stay in the worker
  kInferShapes = 13,  ///< Python workers only, see shape_inference.h
  kDraw = 14,         ///< Python workers only: random numbers, see script_client.h
  kTakeBack = 15,     ///< without an answer: memory that was lent, see loans.h
  kHashInputs = 16,   ///< of a session: from now on its runs report hashes of what they received
  kTrim = 17,         ///< plug-ins' workers only: what closed sessions left goes to the system
  kTryRun = 18,       ///< an inference in unusual circumstances, see trial_messages.h
  kReadImage = 19,    ///< see image_messages.h
  kReset = 20,        ///< of a session: its state is as it was when it was opened
  kDecide = 21,       ///< Python workers only, see script_client.h
  kCountFeeds = 22,   ///< likewise
  kListModules = 23,  ///< likewise, see loaded_modules.h
  kRunStep = 24,      ///< plug-ins' workers only: kRun whose state stays in the worker
  kReply = 100,
  kLog = 101,  ///< may precede the reply to any request
};

/// Options of a backend or a session: keys may repeat.
using OptionList = std::vector<std::pair<std::string, std::string>>;

void EncodeInfos(std::span<const TensorInfo> infos, MessageWriter& out);
std::vector<TensorInfo> DecodeInfos(MessageReader& in);

/// Keys of LoadRequest::options for an option of a plug-in that has this meaning, whatever its name
/// is: where the library is, in place of what that option says; and where warnings go, which
/// plug-ins without such an option do not receive it.
inline constexpr std::string_view kLibraryPlace = "library_place";
inline constexpr std::string_view kLogPlace = "log_place";

/// Load a plug-in and its framework. A framework whose C++ interface differs between major versions
/// has a plug-in for each: the first that can be used is taken. Without any the worker reads images
/// alone.
struct LoadRequest {
  std::vector<std::string> plugin_paths;
  OptionList options;

  void Encode(MessageWriter& out) const;
  static LoadRequest Decode(MessageReader& in);
};

/// What this program may use an option of a plug-in's sessions for: VN_ROLE_* of backend_abi.h.
enum class OptionRole : uint32_t {
  kNone = 0,
  kLayerTimes = 1,
  kLayerNames = 2,
  kLayerNodes = 3,
  kOptimizedModel = 4,
  kAlone = 5,
};

/// What the value of an option says, where this program can say it: VN_MEANS_* of backend_abi.h.
enum class OptionMeaning : uint32_t {
  kNone = 0,
  kThreads = 1,
  kFeedShapes = 2,
  kLibrary = 3,
  kLog = 4,
  kResetMethod = 5,
};

/// What else is to be known of a backend: VN_TRAIT_* of backend_abi.h.
enum class BackendTrait : uint32_t {
  kBuildsEngines = 1,
  kByteKernels = 2,
  kWidensFloat16 = 4,
  kRoundsWithin = 8,
};

/// An option that a plug-in understands, as it describes it itself.
struct BackendOption {
  std::string name, type, default_value, help;
  std::vector<std::string> values = {};        ///< all that it takes; empty: any of its type
  std::vector<std::string> neutral = {};       ///< those that change how is computed, not what
  OptionRole role = OptionRole::kNone;         ///< may be one that this program does not know
  OptionMeaning means = OptionMeaning::kNone;  ///< likewise
};

/// A framework that a worker has loaded, and what its backend can do. What a plug-in of an older
/// interface, which cannot say so, has is empty.
struct BackendInfo {
  std::string name;
  std::string plugin_version;
  std::string framework_version;
  std::string framework_path;
  std::vector<BackendOption> options = {};
  /// How close it is to the definition of operators: 1 is closest, 0 is unknown.
  uint32_t reference_rank = 0;
  /// Variables of its process, "NAME=value NAME=value", that change how is computed, not what.
  std::vector<std::string> neutral_environments = {};
  /// Words of --model-type, endings of files (".xml"), "*"; empty: not known.
  std::vector<std::string> model_formats = {};
  uint32_t traits = 0;  ///< of BackendTrait, added up; some may not be known to this program

  bool Has(BackendTrait trait) const { return (traits & static_cast<uint32_t>(trait)) != 0; }
  /// The first option with this role; null: there is none.
  const BackendOption* OptionFor(OptionRole role) const;
  /// The first option with this meaning; null: there is none.
  const BackendOption* OptionThatMeans(OptionMeaning meaning) const;

  void Encode(MessageWriter& out) const;
  static BackendInfo Decode(MessageReader& in);
};

/// Open a model. When it was edited, its bytes come as the frame's descriptor.
struct OpenRequest {
  uint64_t session = 0;
  std::string model_path;
  uint64_t model_bytes = 0;  ///< size of the edited model; 0: read model_path
  std::string external_data_dir;
  std::vector<TensorInfo> inputs;    ///< as read from the file
  std::vector<std::string> outputs;  ///< the graph's outputs in order, marked ones included
  OptionList options;

  void Encode(MessageWriter& out) const;
  static OpenRequest Decode(MessageReader& in);
};

struct SessionDescription {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<SkippedOutput> not_exposed;
  /// Sequences, maps and optionals, which are fed and returned in parts (part_names.h).
  std::vector<std::string> nested_inputs, nested_outputs;
  std::string precision;
  std::string device;
  double load_seconds = 0;
  bool keeps_state = false;  ///< from one run to the next: kReset makes it start over
  bool takes_steps = false;  ///< kRunStep is served

  void Encode(MessageWriter& out) const;
  static SessionDescription Decode(MessageReader& in);
};

/// Whether outputs that lie on a device may stay in the worker, as handles.
enum class OutputPlace : uint8_t { kHost, kDevice };

/// Run a session; the rest of the message is a TensorBlock's description.
struct RunRequest {
  uint64_t session = 0;
};

/// kRunAndKeep; the rest of the message is a TensorBlock's description.
struct RunAndKeepRequest {
  uint64_t session = 0;
  std::vector<uint64_t> released;  ///< kept outputs that are no longer needed

  void Encode(MessageWriter& out) const;
  static RunAndKeepRequest Decode(MessageReader& in);
};

/// In the place of a handle, with a number added: what the last step of the session kept as the
/// output with that number of RunStepRequest::kept.
inline constexpr uint64_t kOfLastStep = uint64_t{1} << 63;

/// kRunStep; the rest of the message is a TensorBlock's description, in which inputs may be kept
/// outputs of earlier steps.
struct RunStepRequest {
  uint64_t session = 0;
  std::vector<uint64_t> released;  ///< as above
  std::vector<std::string> kept;   ///< outputs that stay, wherever they lie

  void Encode(MessageWriter& out) const;
  static RunStepRequest Decode(MessageReader& in);
};

/// A hash of each input of one run, by name: XXH3 with 64 bits of its bytes as they lie in memory.
using InputHashes = std::vector<std::pair<std::string, uint64_t>>;

void EncodeHashes(const InputHashes& hashes, MessageWriter& out);
InputHashes DecodeHashes(MessageReader& in);

void EncodeStatus(const Status& status, MessageWriter& out);
Status DecodeStatus(MessageReader& in);

}  // namespace vernier
