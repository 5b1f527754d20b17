#include "fitted_session.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "ov_session.h"
#include "runtime_model.h"

namespace vernier::ov {
namespace {

bool LeavesSizesOpen(const vn_model& model) {
  return std::any_of(model.inputs, model.inputs + model.input_count, [](const vn_tensor* input) {
    return input->rank == VN_RANK_UNKNOWN || std::any_of(input->shape, input->shape + input->rank,
                                                         [](int64_t size) { return size < 0; });
  });
}

bool LeavesSizesOpen(const sdk::Session& session) {
  return std::ranges::any_of(session.inputs(), [](const sdk::TensorSpec& input) {
    return !input.rank_known || std::ranges::any_of(input.shape, [](int64_t s) { return s < 0; });
  });
}

bool IsFree(const InputShapes& shapes) {
  return std::ranges::any_of(shapes, [](const auto& shape) {
    return std::ranges::any_of(shape.second, [](int64_t size) { return size < 0; });
  });
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof())
    return BackendError("cannot read the model '" + path + "' again");
  return bytes;
}

// "Exception from src/core.cpp:117:", "Check 'false' failed at src/node.cpp:7:".
bool IsFrame(std::string_view line) {
  const bool place = line.find("Exception from ") != std::string_view::npos ||
                     line.find(" failed at ") != std::string_view::npos;
  return place && line.ends_with(':');
}

// The first line that says more than a place does; the first of all where none does.
std::string FirstWords(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && !IsFrame(line)) return std::string(line);
    begin = end + 1;
  }
  return std::string(first);
}

// What went wrong, without where in OpenVINO's sources and the words around it.
std::string Reason(const Status& status) {
  const std::string& text = status.message();
  const size_t operation = text.find("-- ");
  const size_t start = operation == std::string::npos ? 0 : operation + 3;
  std::string reason = FirstWords(std::string_view(text).substr(start));
  if (const size_t with = reason.find(" with a message"); with != std::string::npos) {
    reason = "it cannot convert " + reason.substr(0, with);
  }
  return reason;
}

}  // namespace

FittedSession::FittedSession(const OpenedWith& with, const vn_model& model,
                             const sdk::Options& options)
    : with_(with),
      path_(sdk::View(model.path)),
      folder_(sdk::View(model.external_data_dir)),
      may_fit_(!path_.ends_with(".xml")),
      is_static_(options.Get("shapes") == "static") {
  if (model.bytes != nullptr)
    bytes_.assign(static_cast<const char*>(model.bytes), model.byte_count);
  for (const std::string_view key :
       {"device", "precision", "threads", "layer_times", "layer_names"}) {
    if (const std::string_view value = options.Get(key); !value.empty()) {
      options_.emplace_back(key, value);
    }
  }
  for (size_t i = 0; i < model.input_count; ++i) inputs_.push_back(sdk::SpecOf(*model.inputs[i]));
  for (size_t i = 0; i < model.output_count; ++i) {
    sdk::TensorSpec& output = outputs_.emplace_back();
    output.name = sdk::View(model.outputs[i]);
    output.rank_known = false;
  }
}

Result<std::unique_ptr<sdk::Session>> FittedSession::Open(const OpenedWith& with,
                                                          const vn_model& model,
                                                          const sdk::Options& options) {
  if (options.Get("shapes") == "static") return OpenStatic(with, model, options);
  Result<std::unique_ptr<sdk::Session>> plain =
      OvModelSession::Open(with.api, with.core, model, options);
  // A wrong option is the user's, not the model's.
  const bool refused = !plain.ok() && plain.status().code() == StatusCode::kBackend;
  if ((!plain.ok() && !refused) || !LeavesSizesOpen(model)) return plain;
  std::unique_ptr<FittedSession> session(new FittedSession(with, model, options));
  if (!plain.ok() && !session->may_fit_) return plain;
  if (plain.ok()) {
    session->TakeSignatureOf(**plain);
    session->session_ = *std::move(plain);
    session->keeps_state_ = KeepsVariables(model);
    return std::unique_ptr<sdk::Session>(std::move(session));
  }
  session->refused_ = plain.status();
  (void)session->FitToListed(options);
  return std::unique_ptr<sdk::Session>(std::move(session));
}

Result<std::unique_ptr<sdk::Session>> FittedSession::OpenStatic(const OpenedWith& with,
                                                                const vn_model& model,
                                                                const sdk::Options& options) {
  std::unique_ptr<FittedSession> session(new FittedSession(with, model, options));
  if (session->may_fit_ && LeavesSizesOpen(model)) {
    const Status fitted = session->FitToListed(options);
    // A wrong option is the user's, not the model's.
    if (!fitted.ok() && fitted.code() != StatusCode::kBackend) return fitted;
    return std::unique_ptr<sdk::Session>(std::move(session));
  }
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<sdk::Session> plain,
                           OvModelSession::Open(with.api, with.core, model, options));
  if (!LeavesSizesOpen(*plain)) return plain;
  return InvalidArgument(
      "--openvino-shapes static: only ONNX models can be compiled for other "
      "sizes than their own, and '" +
      session->path_ + "' is none: reshape it with OpenVINO");
}

// Where even these are refused, those of the first feed may do.
Status FittedSession::FitToListed(const sdk::Options& options) {
  const InputShapes listed = ParseInputShapes(options.Get("feed_shapes"));
  if (listed.empty() || (is_static_ && IsFree(listed))) return {};
  VERNIER_TRY(FitTo(listed));
  TakeSignatureOf(*session_);
  return {};
}

// Sizes that were written into the model are not its own.
void FittedSession::TakeSignatureOf(const sdk::Session& session) {
  if (!written_) inputs_.assign(session.inputs().begin(), session.inputs().end());
  outputs_.assign(session.outputs().begin(), session.outputs().end());
  if (!written_) return;
  for (sdk::TensorSpec& output : outputs_) {
    std::fill(output.shape.begin(), output.shape.end(), -1);
  }
}

sdk::SessionInfo FittedSession::info() const {
  if (session_ != nullptr) return session_->info();
  std::string_view precision = kDefaultPrecision, device = "CPU";
  for (const auto& [key, value] : options_) {
    if (key == "precision") precision = value;
    if (key == "device") device = value;
  }
  return {std::string(ShownPrecision(precision)), std::string(device)};
}

void FittedSession::Say(const std::string& text) const {
  with_.host.Info("OpenVINO | '" + path_ + "' " + text);
}

Result<std::unique_ptr<sdk::Session>> FittedSession::OpenWith(const InputShapes& shapes) const {
  std::string read, fitted;
  std::string_view bytes = bytes_;  // none: OpenVINO reads the file itself
  if (!shapes.empty()) {
    if (bytes_.empty()) {
      VERNIER_ASSIGN_OR_RETURN(read, ReadFile(path_));
    }
    VERNIER_ASSIGN_OR_RETURN(fitted, WriteInputShapes(bytes_.empty() ? read : bytes_, shapes));
    bytes = fitted;
  }
  std::vector<vn_tensor> inputs(inputs_.size());
  std::vector<const vn_tensor*> input_pointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].name = sdk::Str(inputs_[i].name);
    input_pointers.push_back(&inputs[i]);
  }
  std::vector<vn_str> outputs;
  for (const sdk::TensorSpec& output : outputs_) outputs.push_back(sdk::Str(output.name));
  vn_model model{};
  model.struct_size = sizeof(model);
  model.path = sdk::Str(path_);
  model.external_data_dir = sdk::Str(folder_);
  model.bytes = bytes.empty() ? nullptr : bytes.data();
  model.byte_count = bytes.size();
  model.inputs = input_pointers.data();
  model.input_count = input_pointers.size();
  model.outputs = outputs.data();
  model.output_count = outputs.size();
  std::vector<vn_option> options;
  for (const auto& [key, value] : options_) options.push_back({sdk::Str(key), sdk::Str(value)});
  return OvModelSession::Open(with_.api, with_.core, model,
                              sdk::Options(options.data(), options.size()));
}

Status FittedSession::FitTo(const InputShapes& shapes) {
  VERNIER_ASSIGN_OR_RETURN(session_, OpenWith(shapes));
  written_ = shapes;
  Say("was compiled for " + Describe(shapes) +
      (refused_.ok() ? "" : "; without sizes OpenVINO refuses it: " + Reason(refused_)));
  return {};
}

// Sizes that have changed once may change again; where the model cannot have them free, it is
// compiled for every new feed.
Status FittedSession::Refit(const InputShapes& feed) {
  if (is_static_) return FitTo(feed);
  Result<std::unique_ptr<sdk::Session>> freed = OpenWith(FreeWhereTheyDiffer(*written_, feed));
  if (!freed.ok()) return FitTo(feed);
  session_ = *std::move(freed);
  written_ = FreeWhereTheyDiffer(*written_, feed);
  Say("was compiled again because a feed has other sizes; now for " + Describe(*written_));
  return {};
}

// A compiled model of OpenVINO 2026.4 in which an inference has failed, for example because a
// window is larger than its input, gives NaN for every later one, without an error.
Status FittedSession::OpenAfresh() {
  if (!may_open_afresh_) {
    return BackendError("after a failed inference OpenVINO's results cannot be trusted");
  }
  VERNIER_ASSIGN_OR_RETURN(session_, OpenWith(written_.value_or(InputShapes())));
  spoiled_ = false;
  return {};
}

// A feed that is wrong by the model's own words is not to become its shape.
bool FittedSession::MayFitTo(const InputShapes& feed) const {
  if (!may_fit_) return false;
  InputShapes declared;
  for (const sdk::TensorSpec& input : inputs_) {
    if (!feed.contains(input.name)) return false;
    if (input.rank_known) declared[input.name] = input.shape;
  }
  return Admit(declared, feed);
}

Status FittedSession::Reset() {
  if (session_ == nullptr) return NotFound("the model keeps no state");
  if (keeps_state_ && spoiled_) VERNIER_TRY(OpenAfresh());
  return session_->Reset();
}

Result<sdk::RunOutcome> FittedSession::Run(std::span<const vn_tensor* const> inputs) {
  const InputShapes feed = ShapesOf(inputs);
  if (session_ == nullptr) {
    if (!MayFitTo(feed))
      return InvalidArgument("the inputs do not fit the model: " + Describe(feed));
    VERNIER_TRY(FitTo(feed));
  } else if (written_ && !Admit(*written_, feed) && MayFitTo(feed)) {
    VERNIER_TRY(Refit(feed));
  }
  Result<sdk::RunOutcome> outcome = session_->Run(inputs);
  if (!outcome.ok() && !has_run_ && !written_ && MayFitTo(feed)) {
    std::unique_ptr<sdk::Session> plain = std::move(session_);
    refused_ = outcome.status();
    if (FitTo(feed).ok()) return Run(inputs);
    session_ = std::move(plain);
  }
  if (outcome.ok() && spoiled_) {
    if (keeps_state_) {
      return BackendError(
          "an inference failed before this one, and with it the state that the model keeps");
    }
    VERNIER_TRY(OpenAfresh());
    outcome = session_->Run(inputs);
  }
  spoiled_ |= !outcome.ok();
  has_run_ = true;
  // Without sizes of its own it takes every feed: what it was made of is not needed again.
  if (!written_ && !spoiled_ && !bytes_.empty()) {
    bytes_ = std::string();
    may_open_afresh_ = false;
  }
  return outcome;
}

}  // namespace vernier::ov
