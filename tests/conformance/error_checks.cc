// What a backend does with nonsense: an error, no crash, and the next thing works.
#include <random>

#include "checks.h"

namespace vernier {
namespace {

std::vector<TensorInfo> OneInput() { return {Input("x", DType::kFloat32, {2, 3})}; }

std::vector<TensorInfo> TwoInputs() {
  return {Input("x", DType::kFloat32, {2, 3}), Input("second", DType::kFloat32, {2})};
}

// After an error the same session runs.
Status ExpectErrorAndGoOn(BackendUnderTest& backend, const std::vector<TensorInfo>& inputs,
                          const TensorMap& wrong) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  const bool accepted = backend.Run(model, wrong).ok();
  VERNIER_TRY(backend.ExpectAlive());
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  if (const Status status = backend.ExpectEcho(model, feed); !status.ok()) {
    return Failed("afterwards the session is unusable: " + status.message());
  }
  return accepted ? Failed("a wrong input was accepted") : Status();
}

Status WrongInput(BackendUnderTest& backend, DType dtype, const Dims& dims) {
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TrickyTensor(dtype, dims));
  return ExpectErrorAndGoOn(backend, OneInput(), {{"x", std::move(tensor)}});
}

Status MissingInput(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, TrickyFeed(TwoInputs()));
  feed.pop_back();
  return ExpectErrorAndGoOn(backend, TwoInputs(), feed);
}

Status NoInputs(BackendUnderTest& backend) { return ExpectErrorAndGoOn(backend, OneInput(), {}); }

Status RenamedInput(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, TrickyFeed(OneInput()));
  feed[0].name = "surprise";
  return ExpectErrorAndGoOn(backend, OneInput(), feed);
}

// A broken model is an error, and then a good one opens.
Status ExpectBroken(BackendUnderTest& backend, const std::vector<std::string>& models) {
  std::string accepted;
  for (const std::string& bytes : models) {
    const Result<OpenModel> model = backend.OpenBytes(bytes, OneInput());
    VERNIER_TRY(backend.ExpectAlive());
    if (model.ok()) {
      accepted = "a broken model of " + std::to_string(bytes.size()) + " bytes was opened";
    } else if (model.status().message().empty()) {
      return Failed("an error without a message");
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const OpenModel good, backend.Open(OneInput()));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(OneInput()));
  VERNIER_TRY(backend.ExpectEcho(good, feed));
  return accepted.empty() ? Status() : Failed(accepted);
}

Status TruncatedModel(BackendUnderTest& backend) {
  const std::string whole = backend.ModelBytes(OneInput());
  std::vector<std::string> models;
  for (size_t size = 1; size < whole.size(); size += 3) models.push_back(whole.substr(0, size));
  return ExpectBroken(backend, models);
}

Status MissingFile(BackendUnderTest& backend) {
  for (const char* path : {"/nonexistent/model.onnx", "/"}) {
    const Result<OpenModel> model = backend.OpenPath(path, OneInput());
    VERNIER_TRY(backend.ExpectAlive());
    if (model.ok()) return Failed(std::string("'") + path + "' was opened");
  }
  return {};
}

// Some flipped models are valid. None may end the worker.
Status FlippedModel(BackendUnderTest& backend) {
  const std::string whole = backend.ModelBytes(TwoInputs());
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string flipped = whole;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 8);
    }
    const Result<OpenModel> model = backend.OpenBytes(flipped, TwoInputs());
    if (model.ok()) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(TwoInputs()));
      (void)backend.Run(*model, feed);
    }
    if (!backend.alive()) {
      return Failed("flipped model " + std::to_string(i) + ": " + backend.ExpectAlive().message());
    }
    if (model.ok()) VERNIER_TRY(backend.Close(*model));
  }
  return {};
}

Status BadOption(BackendUnderTest& backend, const std::string& key, const std::string& value) {
  const Result<OpenModel> model =
      backend.OpenBytes(backend.ModelBytes(OneInput()), OneInput(), {{key, value}});
  VERNIER_TRY(backend.ExpectAlive());
  if (model.ok()) return Failed("it was accepted");
  if (model.status().code() != StatusCode::kInvalidArgument) {
    return Failed("not an invalid argument, but: " + model.status().message());
  }
  if (model.status().message().find(value) == std::string::npos) {
    return Failed("the message does not name the value: " + model.status().message());
  }
  return {};
}

Status UnavailableWith(BackendUnderTest& backend, const std::string& key,
                       const std::string& value) {
  const Status status = backend.Load({{key, value}}).status();
  const bool alive = backend.alive();
  backend.Stop();
  if (!alive) return Failed("the worker died");
  if (status.code() == StatusCode::kUnavailable) return {};
  return Failed(status.ok() ? "it was loaded" : "not `unavailable`, but: " + status.message());
}

}  // namespace

void AddErrorChecks(const Expectations& expectations, std::vector<Check>& checks) {
  using Backend = BackendUnderTest;
  const Check all[] = {
      {"errors/wrong_dtype",
       [](Backend& b) {
         return WrongInput(b, DType::kInt64, {2, 3});
       }},
      {"errors/wrong_shape",
       [](Backend& b) {
         return WrongInput(b, DType::kFloat32, {2, 4});
       }},
      {"errors/wrong_rank", [](Backend& b) { return WrongInput(b, DType::kFloat32, {6}); }},
      {"errors/missing_input", &MissingInput},
      {"errors/no_inputs", &NoInputs},
      {"errors/renamed_input", &RenamedInput},
      {"malformed/missing_file", &MissingFile},
      {"malformed/empty", [](Backend& b) { return ExpectBroken(b, {""}); }},
      {"malformed/garbage",
       [](Backend& b) {
         return ExpectBroken(b, {"garbage", std::string(10'000, '\xff')});
       }},
      {"malformed/truncated", &TruncatedModel},
      {"malformed/flipped_bits", &FlippedModel},
  };
  checks.insert(checks.end(), std::begin(all), std::end(all));
  for (const auto& [key, value] : expectations.bad_options) {
    checks.push_back({"options/" + key + "=" + value,
                      [key = key, value = value](Backend& b) { return BadOption(b, key, value); }});
  }
  for (const auto& [key, value] : expectations.unavailable_options) {
    checks.push_back({"unavailable/" + key + "=" + value, [key = key, value = value](Backend& b) {
                        return UnavailableWith(b, key, value);
                      }});
  }
}

}  // namespace vernier
