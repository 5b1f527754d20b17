#include "backend/wire/messages.h"

#include <gtest/gtest.h>

#include <random>

namespace vernier {
namespace {

LoadRequest SomeLoad() {
  return {{"/a/plugin_2.so", "/a/plugin_1.so"},
          {{"lib", "x"}, {"providers", "a"}, {"providers", ""}}};
}

OpenRequest SomeOpen() {
  OpenRequest request;
  request.session = 7;
  request.model_path = "m.onnx";
  request.model_bytes = 123;
  request.external_data_dir = "weights";
  request.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "batch"}, {3, ""}}},
                    {"scalar", DType::kInt4, std::vector<Dim>{}},
                    {"any", DType::kString, std::nullopt}};
  request.outputs = {"y", "ünïcode", ""};
  request.options = {{"device", "CPU"}};
  return request;
}

SessionDescription SomeDescription() {
  SessionDescription session;
  session.inputs = SomeOpen().inputs;
  session.outputs = {{"y", DType::kUndefined, std::vector<Dim>{{2, ""}}}};
  session.not_exposed = {{"hidden", "fused away"}};
  session.nested_inputs = {"list"};
  session.nested_outputs = {"map", "maybe"};
  session.precision = "float32";
  session.device = "CPU";
  session.load_seconds = 0.25;
  session.keeps_state = true;
  session.takes_steps = true;
  return session;
}

template <typename Message>
std::vector<std::byte> Encoded(const Message& message) {
  MessageWriter writer;
  message.Encode(writer);
  return {writer.bytes().begin(), writer.bytes().end()};
}

void ExpectSameInfos(const std::vector<TensorInfo>& actual,
                     const std::vector<TensorInfo>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_EQ(actual[i].dtype, expected[i].dtype);
    EXPECT_TRUE(actual[i].shape == expected[i].shape) << actual[i].name;
  }
}

TEST(Messages, LoadRequestComesBack) {
  const std::vector<std::byte> bytes = Encoded(SomeLoad());
  MessageReader reader(bytes);
  const LoadRequest request = LoadRequest::Decode(reader);
  EXPECT_TRUE(reader.finished());
  EXPECT_EQ(request.plugin_paths, SomeLoad().plugin_paths);
  EXPECT_EQ(request.options, SomeLoad().options);
}

TEST(Messages, BackendInfoComesBack) {
  BackendInfo info{
      "name", "1", "1.31.1", "/lib/x.so", {{"device", "word", "CPU", "where it runs"}}};
  info.options.push_back(
      {"level", "word", "", "", {"0", "1", "2"}, {"0"}, OptionRole::kLayerTimes});
  info.reference_rank = 30;
  info.neutral_environments = {"A=1 B=2", "C=3"};
  const std::vector<std::byte> bytes = Encoded(info);
  MessageReader reader(bytes);
  const BackendInfo decoded = BackendInfo::Decode(reader);
  EXPECT_TRUE(reader.finished());
  EXPECT_EQ(decoded.name, "name");
  EXPECT_EQ(decoded.plugin_version, "1");
  EXPECT_EQ(decoded.framework_version, "1.31.1");
  EXPECT_EQ(decoded.framework_path, "/lib/x.so");
  ASSERT_EQ(decoded.options.size(), 2u);
  EXPECT_EQ(decoded.options[0].name, "device");
  EXPECT_EQ(decoded.options[0].type, "word");
  EXPECT_EQ(decoded.options[0].default_value, "CPU");
  EXPECT_EQ(decoded.options[0].help, "where it runs");
  EXPECT_TRUE(decoded.options[0].values.empty());
  EXPECT_TRUE(decoded.options[0].neutral.empty());
  EXPECT_EQ(decoded.options[1].values, info.options[1].values);
  EXPECT_EQ(decoded.options[1].neutral, info.options[1].neutral);
  EXPECT_EQ(decoded.reference_rank, 30u);
  EXPECT_EQ(decoded.neutral_environments, info.neutral_environments);
  EXPECT_EQ(decoded.OptionFor(OptionRole::kLayerTimes), &decoded.options[1]);
  EXPECT_EQ(decoded.OptionFor(OptionRole::kLayerNames), nullptr);
}

TEST(Messages, WhatABackendDeclaresComesBack) {
  BackendInfo info;
  info.options.push_back({.name = "level", .type = "", .default_value = "", .help = ""});
  info.options.push_back({.name = "pool",
                          .type = "int",
                          .default_value = "",
                          .help = "",
                          .means = OptionMeaning::kThreads});
  info.model_formats = {"onnx", ".xml"};
  info.traits = 1;
  const std::vector<std::byte> bytes = Encoded(info);
  MessageReader reader(bytes);
  const BackendInfo decoded = BackendInfo::Decode(reader);
  EXPECT_TRUE(reader.finished());
  EXPECT_EQ(decoded.OptionThatMeans(OptionMeaning::kThreads), &decoded.options[1]);
  EXPECT_EQ(decoded.OptionThatMeans(OptionMeaning::kLibrary), nullptr);
  EXPECT_EQ(decoded.model_formats, info.model_formats);
  EXPECT_TRUE(decoded.Has(BackendTrait::kBuildsEngines));
  EXPECT_FALSE(decoded.Has(BackendTrait::kByteKernels));
}

TEST(Messages, OpenRequestComesBack) {
  const std::vector<std::byte> bytes = Encoded(SomeOpen());
  MessageReader reader(bytes);
  const OpenRequest request = OpenRequest::Decode(reader);
  EXPECT_TRUE(reader.finished());
  EXPECT_EQ(request.session, 7u);
  EXPECT_EQ(request.model_path, "m.onnx");
  EXPECT_EQ(request.model_bytes, 123u);
  EXPECT_EQ(request.external_data_dir, "weights");
  ExpectSameInfos(request.inputs, SomeOpen().inputs);
  EXPECT_EQ(request.outputs, SomeOpen().outputs);
  EXPECT_EQ(request.options, SomeOpen().options);
}

TEST(Messages, SessionDescriptionComesBack) {
  const std::vector<std::byte> bytes = Encoded(SomeDescription());
  MessageReader reader(bytes);
  const SessionDescription session = SessionDescription::Decode(reader);
  EXPECT_TRUE(reader.finished());
  ExpectSameInfos(session.inputs, SomeDescription().inputs);
  ExpectSameInfos(session.outputs, SomeDescription().outputs);
  ASSERT_EQ(session.not_exposed.size(), 1u);
  EXPECT_EQ(session.not_exposed[0].name, "hidden");
  EXPECT_EQ(session.not_exposed[0].why, "fused away");
  EXPECT_EQ(session.nested_inputs, SomeDescription().nested_inputs);
  EXPECT_EQ(session.nested_outputs, SomeDescription().nested_outputs);
  EXPECT_EQ(session.precision, "float32");
  EXPECT_EQ(session.device, "CPU");
  EXPECT_EQ(session.load_seconds, 0.25);
  EXPECT_TRUE(session.keeps_state);
  EXPECT_TRUE(session.takes_steps);
}

TEST(Messages, EveryStatusComesBack) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kInternal); ++code) {
    const Status status(static_cast<StatusCode>(code), code == 0 ? "" : "because");
    MessageWriter writer;
    EncodeStatus(status, writer);
    MessageReader reader(writer.bytes());
    const Status decoded = DecodeStatus(reader);
    EXPECT_EQ(decoded.code(), status.code());
    EXPECT_EQ(decoded.message(), status.message());
    EXPECT_TRUE(reader.finished());
  }
}

TEST(Messages, StatusWithAnUnknownCodeIsABackendError) {
  for (const int32_t code : {-1, 10, 12345}) {
    MessageWriter writer;
    writer.Number(code);
    writer.Text("odd");
    MessageReader reader(writer.bytes());
    EXPECT_EQ(DecodeStatus(reader).code(), StatusCode::kBackend) << code;
  }
}

template <typename Message>
void ExpectHostileBytesToFail(const Message& message) {
  const std::vector<std::byte> bytes = Encoded(message);
  for (size_t size = 0; size < bytes.size(); ++size) {
    MessageReader reader{std::span<const std::byte>(bytes).first(size)};
    (void)Message::Decode(reader);
    EXPECT_FALSE(reader.finished()) << size << " of " << bytes.size();
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> flipped = bytes;
    for (uint64_t flips = 1 + random() % 6; flips > 0; --flips) {
      flipped[random() % flipped.size()] ^= static_cast<std::byte>(1 << random() % 8);
    }
    MessageReader reader(flipped);
    (void)Message::Decode(reader);
  }
}

TEST(HostileMessages, TruncatedOrFlippedBytesDoNoHarm) {
  ExpectHostileBytesToFail(SomeLoad());
  ExpectHostileBytesToFail(BackendInfo{"a", "b", "c", "d"});
  ExpectHostileBytesToFail(SomeOpen());
  ExpectHostileBytesToFail(SomeDescription());
}

TEST(HostileMessages, TruncatedStatusIsABackendError) {
  MessageWriter writer;
  EncodeStatus(Malformed("why"), writer);
  for (size_t size = 0; size < writer.size(); ++size) {
    MessageReader reader(writer.bytes().first(size));
    EXPECT_EQ(DecodeStatus(reader).code(), StatusCode::kBackend) << size;
  }
}

TEST(RunStepRequest, ComesBackAsItWas) {
  MessageWriter out;
  RunStepRequest{5, {1, 2}, {"hn", "cn"}}.Encode(out);
  MessageReader in(out.bytes());
  const RunStepRequest read = RunStepRequest::Decode(in);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(read.session, 5u);
  EXPECT_EQ(read.released, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(read.kept, (std::vector<std::string>{"hn", "cn"}));
}

}  // namespace
}  // namespace vernier
