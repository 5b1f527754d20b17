#include "backend/wire/messages.h"

#include <algorithm>

namespace vernier {
namespace {

void EncodeOptions(const OptionList& options, MessageWriter& out) {
  out.Number<uint64_t>(options.size());
  for (const auto& [key, value] : options) {
    out.Text(key);
    out.Text(value);
  }
}

OptionList DecodeOptions(MessageReader& in) {
  OptionList options(in.Count(2 * sizeof(uint64_t)));
  for (auto& [key, value] : options) {
    key = in.Text();
    value = in.Text();
  }
  return options;
}

void EncodeTexts(std::span<const std::string> texts, MessageWriter& out) {
  out.Number<uint64_t>(texts.size());
  for (const std::string& text : texts) out.Text(text);
}

std::vector<std::string> DecodeTexts(MessageReader& in) {
  std::vector<std::string> texts(in.Count(sizeof(uint64_t)));
  for (std::string& text : texts) text = in.Text();
  return texts;
}

void EncodeHandles(std::span<const uint64_t> handles, MessageWriter& out) {
  out.Number<uint64_t>(handles.size());
  for (const uint64_t handle : handles) out.Number(handle);
}

std::vector<uint64_t> DecodeHandles(MessageReader& in) {
  std::vector<uint64_t> handles(in.Count(sizeof(uint64_t)));
  for (uint64_t& handle : handles) handle = in.Number<uint64_t>();
  return handles;
}

}  // namespace

void EncodeInfos(std::span<const TensorInfo> infos, MessageWriter& out) {
  out.Number<uint64_t>(infos.size());
  for (const TensorInfo& info : infos) {
    out.Text(info.name);
    out.Number(static_cast<uint8_t>(info.dtype));
    out.Number(static_cast<uint8_t>(info.shape.has_value()));
    if (!info.shape) continue;
    out.Number<uint64_t>(info.shape->size());
    for (const Dim& dim : *info.shape) {
      out.Number(dim.value);
      out.Text(dim.symbol);
    }
  }
}

std::vector<TensorInfo> DecodeInfos(MessageReader& in) {
  constexpr size_t kLeastInfo = sizeof(uint64_t) + 2;  // an empty name, a type, no shape
  std::vector<TensorInfo> infos(in.Count(kLeastInfo));
  for (TensorInfo& info : infos) {
    info.name = in.Text();
    info.dtype = DTypeFromOnnx(in.Number<uint8_t>()).value_or(DType::kUndefined);
    if (in.Number<uint8_t>() == 0) continue;
    info.shape.emplace(in.Count(sizeof(int64_t) + sizeof(uint64_t)));
    for (Dim& dim : *info.shape) {
      dim.value = in.Number<int64_t>();
      dim.symbol = in.Text();
    }
  }
  return infos;
}

void LoadRequest::Encode(MessageWriter& out) const {
  EncodeTexts(plugin_paths, out);
  EncodeOptions(options, out);
}

LoadRequest LoadRequest::Decode(MessageReader& in) {
  LoadRequest request;
  request.plugin_paths = DecodeTexts(in);
  request.options = DecodeOptions(in);
  return request;
}

void BackendInfo::Encode(MessageWriter& out) const {
  for (const std::string* text : {&name, &plugin_version, &framework_version, &framework_path}) {
    out.Text(*text);
  }
  out.Number<uint64_t>(options.size());
  for (const BackendOption& option : options) {
    for (const std::string* text :
         {&option.name, &option.type, &option.default_value, &option.help}) {
      out.Text(*text);
    }
    EncodeTexts(option.values, out);
    EncodeTexts(option.neutral, out);
    out.Number(static_cast<uint32_t>(option.role));
    out.Number(static_cast<uint32_t>(option.means));
  }
  out.Number(reference_rank);
  EncodeTexts(neutral_environments, out);
  EncodeTexts(model_formats, out);
  out.Number(traits);
}

BackendInfo BackendInfo::Decode(MessageReader& in) {
  BackendInfo info;
  for (std::string* text :
       {&info.name, &info.plugin_version, &info.framework_version, &info.framework_path}) {
    *text = in.Text();
  }
  constexpr size_t kLeastOption = 6 * sizeof(uint64_t) + 2 * sizeof(uint32_t);
  info.options.resize(in.Count(kLeastOption));
  for (BackendOption& option : info.options) {
    for (std::string* text : {&option.name, &option.type, &option.default_value, &option.help}) {
      *text = in.Text();
    }
    option.values = DecodeTexts(in);
    option.neutral = DecodeTexts(in);
    option.role = static_cast<OptionRole>(in.Number<uint32_t>());
    option.means = static_cast<OptionMeaning>(in.Number<uint32_t>());
  }
  info.reference_rank = in.Number<uint32_t>();
  info.neutral_environments = DecodeTexts(in);
  info.model_formats = DecodeTexts(in);
  info.traits = in.Number<uint32_t>();
  return info;
}

const BackendOption* BackendInfo::OptionFor(OptionRole role) const {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const BackendOption& option) { return option.role == role; });
  return found == options.end() ? nullptr : &*found;
}

const BackendOption* BackendInfo::OptionThatMeans(OptionMeaning meaning) const {
  const auto found = std::ranges::find(options, meaning, &BackendOption::means);
  return found == options.end() ? nullptr : &*found;
}

void OpenRequest::Encode(MessageWriter& out) const {
  out.Number(session);
  out.Text(model_path);
  out.Number(model_bytes);
  out.Text(external_data_dir);
  EncodeInfos(inputs, out);
  EncodeTexts(outputs, out);
  EncodeOptions(options, out);
}

OpenRequest OpenRequest::Decode(MessageReader& in) {
  OpenRequest request;
  request.session = in.Number<uint64_t>();
  request.model_path = in.Text();
  request.model_bytes = in.Number<uint64_t>();
  request.external_data_dir = in.Text();
  request.inputs = DecodeInfos(in);
  request.outputs = DecodeTexts(in);
  request.options = DecodeOptions(in);
  return request;
}

void SessionDescription::Encode(MessageWriter& out) const {
  EncodeInfos(inputs, out);
  EncodeInfos(outputs, out);
  out.Number<uint64_t>(not_exposed.size());
  for (const SkippedOutput& output : not_exposed) {
    out.Text(output.name);
    out.Text(output.why);
  }
  for (const auto* names : {&nested_inputs, &nested_outputs}) {
    out.Number<uint64_t>(names->size());
    for (const std::string& name : *names) out.Text(name);
  }
  out.Text(precision);
  out.Text(device);
  out.Number(load_seconds);
  out.Number(static_cast<uint8_t>(keeps_state));
  out.Number(static_cast<uint8_t>(takes_steps));
}

SessionDescription SessionDescription::Decode(MessageReader& in) {
  SessionDescription session;
  session.inputs = DecodeInfos(in);
  session.outputs = DecodeInfos(in);
  session.not_exposed.resize(in.Count(2 * sizeof(uint64_t)));
  for (SkippedOutput& output : session.not_exposed) {
    output.name = in.Text();
    output.why = in.Text();
  }
  for (auto* names : {&session.nested_inputs, &session.nested_outputs}) {
    names->resize(in.Count(sizeof(uint64_t)));
    for (std::string& name : *names) name = in.Text();
  }
  session.precision = in.Text();
  session.device = in.Text();
  session.load_seconds = in.Number<double>();
  session.keeps_state = in.Number<uint8_t>() != 0;
  session.takes_steps = in.Number<uint8_t>() != 0;
  return session;
}

void RunAndKeepRequest::Encode(MessageWriter& out) const {
  out.Number(session);
  EncodeHandles(released, out);
}

RunAndKeepRequest RunAndKeepRequest::Decode(MessageReader& in) {
  RunAndKeepRequest request;
  request.session = in.Number<uint64_t>();
  request.released = DecodeHandles(in);
  return request;
}

void RunStepRequest::Encode(MessageWriter& out) const {
  out.Number(session);
  EncodeHandles(released, out);
  EncodeTexts(kept, out);
}

RunStepRequest RunStepRequest::Decode(MessageReader& in) {
  RunStepRequest request;
  request.session = in.Number<uint64_t>();
  request.released = DecodeHandles(in);
  request.kept = DecodeTexts(in);
  return request;
}

void EncodeHashes(const InputHashes& hashes, MessageWriter& out) {
  out.Number<uint64_t>(hashes.size());
  for (const auto& [name, hash] : hashes) {
    out.Text(name);
    out.Number(hash);
  }
}

InputHashes DecodeHashes(MessageReader& in) {
  InputHashes hashes(in.Count(2 * sizeof(uint64_t)));
  for (auto& [name, hash] : hashes) {
    name = in.Text();
    hash = in.Number<uint64_t>();
  }
  return hashes;
}

void EncodeStatus(const Status& status, MessageWriter& out) {
  out.Number(static_cast<int32_t>(status.code()));
  out.Text(status.message());
}

Status DecodeStatus(MessageReader& in) {
  const auto code = in.Number<int32_t>();
  std::string message = in.Text();
  if (in.failed() || code < 0 || code > static_cast<int32_t>(StatusCode::kInternal)) {
    return BackendError("a worker sent a malformed answer");
  }
  if (code == 0) return {};
  return {static_cast<StatusCode>(code), std::move(message)};
}

}  // namespace vernier
