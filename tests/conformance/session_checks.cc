// Loading, sessions, signatures and inputs.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "checks.h"
#include "model_writer.h"

namespace vernier {
namespace {

std::vector<TensorInfo> TwoInputs() {
  return {Input("a", DType::kFloat32, {2, 3}), Input("b", DType::kInt32, {4})};
}

Status DescribesItself(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const BackendInfo info, backend.Load());
  if (info.name.empty() || info.plugin_version.empty() || info.framework_version.empty()) {
    return Failed("name, version or framework version is empty");
  }
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  if (model.description.precision.empty() || model.description.device.empty()) {
    return Failed("a session does not say its precision or device");
  }
  return {};
}

// Neutral settings and roles of options: what is declared must be accepted, and must not change
// what comes out.
Status DeclaresWhatItCan(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const BackendInfo info, backend.Load());
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("vernier-conformance-" + std::to_string(::getpid())))
                               .string();
  OptionList declared;
  for (const BackendOption& option : info.options) {
    for (const std::string& value : option.neutral) {
      const std::vector<std::string>& all = option.values;
      if (!all.empty() && std::find(all.begin(), all.end(), value) == all.end()) {
        return Failed("'" + value + "' is neutral, but is no value of '" + option.name + "'");
      }
      declared.emplace_back(option.name, value);
    }
    if (option.role == OptionRole::kNone) continue;
    declared.emplace_back(option.name, option.role == OptionRole::kAlone ? "1" : file);
  }
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(TwoInputs()));
  for (const auto& option : declared) {
    VERNIER_ASSIGN_OR_RETURN(
        const OpenModel model,
        backend.OpenBytes(backend.ModelBytes(TwoInputs()), TwoInputs(), {option}));
    VERNIER_TRY(backend.ExpectEcho(model, feed).Annotate(option.first + "=" + option.second));
    VERNIER_TRY(backend.Close(model));
  }
  std::filesystem::remove(file);
  return backend.ExpectAlive();
}

Status OpenCloseTwice(BackendUnderTest& backend) {
  for (int i = 0; i < 2; ++i) {
    VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(TwoInputs()));
    VERNIER_TRY(backend.ExpectEcho(model, feed));
    VERNIER_TRY(backend.Close(model));
    if (backend.Run(model, feed).ok()) return Failed("a closed session still runs");
  }
  return backend.ExpectAlive();
}

Status CloseWithoutRun(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  return backend.Close(model);
}

Status TwoAtOnce(BackendUnderTest& backend) {
  const std::vector<TensorInfo> other = {Input("b", DType::kFloat32, {5})};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel first, backend.Open(TwoInputs()));
  VERNIER_ASSIGN_OR_RETURN(const OpenModel second, backend.Open(other));
  for (uint64_t seed = 0; seed < 4; ++seed) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap first_feed, TrickyFeed(TwoInputs(), seed));
    VERNIER_ASSIGN_OR_RETURN(const TensorMap second_feed, TrickyFeed(other, seed + 1));
    VERNIER_TRY(backend.ExpectEcho(first, first_feed));
    VERNIER_TRY(backend.ExpectEcho(second, second_feed));
  }
  VERNIER_TRY(backend.Close(first));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(other, 9));
  return backend.ExpectEcho(second, feed);
}

Status RepeatedRuns(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  for (uint64_t seed = 0; seed < 50; ++seed) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(TwoInputs(), seed));
    VERNIER_TRY(backend.ExpectEcho(model, feed));
  }
  return {};
}

// A feed of kept outputs; those of a model of Identity nodes are in the order of its inputs.
Result<TensorBlock> FeedOf(const OpenModel& model, const std::vector<KeptOutput>& kept) {
  TensorBlockBuilder builder;
  for (size_t i = 0; i < kept.size() && i < model.inputs.size(); ++i) {
    builder.AddKept(model.inputs[i].name, kept[i].dtype, kept[i].dims, kept[i].handle);
  }
  return builder.Finish();
}

Status ExpectKept(BackendUnderTest& backend, const std::vector<KeptOutput>& kept,
                  const TensorMap& feed) {
  if (kept.size() != feed.size()) return Failed("a step has another number of outputs");
  for (size_t i = 0; i < kept.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor tensor, backend.Fetch(kept[i].handle));
    if (std::ranges::equal(tensor.bytes(), feed[i].tensor.bytes())) continue;
    return Failed("the output '" + kept[i].name + "' that stayed has other bytes");
  }
  return {};
}

// State that is fed back stays as it is while later steps run, and comes out as it went in.
Status FedBackWhereItLies(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  constexpr uint64_t kSteps = 4;
  std::vector<TensorMap> feeds;
  std::vector<std::vector<KeptOutput>> kept;
  for (uint64_t seed = 0; seed < kSteps; ++seed) {
    VERNIER_ASSIGN_OR_RETURN(feeds.emplace_back(), TrickyFeed(TwoInputs(), seed));
    VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feeds.back()));
    VERNIER_ASSIGN_OR_RETURN(kept.emplace_back(), backend.RunStep(model, block));
  }
  for (uint64_t i = 0; i < kSteps; ++i) {
    VERNIER_TRY(ExpectKept(backend, kept[i], feeds[i]).Annotate("after all steps"));
    std::vector<KeptOutput> state = kept[i];
    for (int step = 0; step < 3; ++step) {
      VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, FeedOf(model, state));
      VERNIER_ASSIGN_OR_RETURN(state, backend.RunStep(model, block));
      VERNIER_TRY(ExpectKept(backend, state, feeds[i]).Annotate("fed back"));
    }
    VERNIER_TRY(ExpectKept(backend, kept[i], feeds[i]).Annotate("after it was fed back"));
  }
  return backend.Close(model);
}

Status OpensFromMemory(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.OpenFromMemory(TwoInputs()));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(TwoInputs()));
  return backend.ExpectEcho(model, feed);
}

Status ExpectSignature(const std::vector<TensorInfo>& actual,
                       const std::vector<TensorInfo>& expected, bool is_output) {
  if (actual.size() != expected.size())
    return Failed("the signature has another number of tensors");
  for (size_t i = 0; i < actual.size(); ++i) {
    const bool named = actual[i].name == expected[i].name ||
                       (is_output && actual[i].name == OutputName(expected[i].name));
    const bool shaped = actual[i].shape &&
                        std::equal(actual[i].shape->begin(), actual[i].shape->end(),
                                   expected[i].shape->begin(), expected[i].shape->end(),
                                   [](const Dim& a, const Dim& b) { return a.value == b.value; });
    if (named && shaped && actual[i].dtype == expected[i].dtype) continue;
    return Failed("the signature has '" + actual[i].name + "', " +
                  std::string(DTypeName(actual[i].dtype)) + FormatShape(actual[i].shape) +
                  ", for '" + expected[i].name + "'");
  }
  return {};
}

Status SignatureMatchesModel(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  VERNIER_TRY(ExpectSignature(model.description.inputs, TwoInputs(), false));
  return ExpectSignature(model.description.outputs, TwoInputs(), true);
}

Status SignatureMatchesRun(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(TwoInputs()));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, backend.Run(model, feed));
  const std::vector<TensorInfo>& declared = model.description.outputs;
  if (declared.size() != outputs.size()) return Failed("a run has another number of outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool typed = !backend.typed() || outputs[i].tensor.dtype() == declared[i].dtype;
    if (outputs[i].name != declared[i].name || !typed) {
      return Failed("output " + std::to_string(i) + " of a run is not that of the signature");
    }
  }
  return {};
}

Status InputsInAnotherOrder(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(TwoInputs()));
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, TrickyFeed(TwoInputs()));
  std::reverse(feed.begin(), feed.end());
  return backend.ExpectEcho(model, feed);
}

Status InputsLeftUnmodified(BackendUnderTest& backend) {
  // Large enough for shared memory, which is mapped read-only: writing kills the worker.
  const std::vector<TensorInfo> inputs = {Input("x", DType::kFloat32, {300, 300})};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  for (int i = 0; i < 2; ++i) VERNIER_TRY(backend.ExpectEcho(model, feed));
  return backend.ExpectAlive();
}

Status ManyInputs(BackendUnderTest& backend) {
  std::vector<TensorInfo> inputs;
  for (int i = 0; i < 200; ++i) {
    inputs.push_back(Input("input_" + std::to_string(i), DType::kFloat32, {i % 7 + 1}));
  }
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  return backend.ExpectEcho(model, feed);
}

Status UnusualNames(BackendUnderTest& backend) {
  const std::vector<TensorInfo> inputs = {
      Input("scope/in:0", DType::kFloat32, {2}), Input("with blanks", DType::kFloat32, {3}),
      Input("ünïcode", DType::kFloat32, {4}), Input("a\"quote'", DType::kFloat32, {5}),
      Input(std::string(2000, 'n'), DType::kFloat32, {6})};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  VERNIER_TRY(ExpectSignature(model.description.inputs, inputs, false));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  return backend.ExpectEcho(model, feed);
}

// Resident bytes of the children of this process: the worker.
uint64_t WorkerMemory() {
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  uint64_t total = 0;
  for (std::string child; children >> child;) {
    uint64_t pages = 0, resident = 0;
    std::ifstream("/proc/" + child + "/statm") >> pages >> resident;
    total += resident * static_cast<uint64_t>(::getpagesize());
  }
  return total;
}

Status MemoryStaysFlat(BackendUnderTest& backend) {
  const std::vector<TensorInfo> inputs = {Input("x", DType::kFloat32, {512, 512})};
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  uint64_t before = 0;
  // Every round leaks two mebibytes if outputs, sessions or inputs are not released.
  for (int round = 0; round < 200; ++round) {
    VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
    VERNIER_TRY(backend.ExpectEcho(model, feed));
    VERNIER_TRY(backend.ExpectEcho(model, feed));
    VERNIER_TRY(backend.Close(model));
    if (round == 20) before = WorkerMemory();
  }
  const uint64_t after = WorkerMemory();
  if (before == 0) return Failed("the worker's memory cannot be read");
  if (after > before + (uint64_t{64} << 20)) {
    return Failed("180 sessions left " + std::to_string((after - before) >> 20) + " MiB behind");
  }
  return {};
}

}  // namespace

void AddSessionChecks(std::vector<Check>& checks) {
  const Check all[] = {
      {"session/describes_itself", &DescribesItself},
      {"session/declares_what_it_can", &DeclaresWhatItCan},
      {"session/open_close_twice", &OpenCloseTwice},
      {"session/close_without_run", &CloseWithoutRun},
      {"session/two_at_once", &TwoAtOnce},
      {"session/repeated_runs", &RepeatedRuns},
      {"session/fed_back_where_it_lies", &FedBackWhereItLies},
      {"session/opens_from_memory", &OpensFromMemory},
      {"session/memory_stays_flat", &MemoryStaysFlat},
      {"signature/matches_model", &SignatureMatchesModel},
      {"signature/matches_run", &SignatureMatchesRun},
      {"inputs/another_order", &InputsInAnotherOrder},
      {"inputs/left_unmodified", &InputsLeftUnmodified},
      {"inputs/many", &ManyInputs},
      {"inputs/unusual_names", &UnusualNames},
  };
  checks.insert(checks.end(), std::begin(all), std::end(all));
}

}  // namespace vernier
