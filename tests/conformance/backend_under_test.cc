#include "backend_under_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>

#include "model_writer.h"

namespace vernier {
namespace {

constexpr double kTimeoutSeconds = 60;

std::span<const uint64_t> PatternsOf(DType dtype) {
  static constexpr uint64_t kFloat32s[] = {0x00000000, 0x80000000, 0x3f800000, 0xc0490fdb,
                                           0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
                                           0x7f7fffff, 0x00800000, 0x3eaaaaab};
  static constexpr uint64_t kFloat64s[] = {0,
                                           0x8000000000000000,
                                           0x3ff0000000000000,
                                           0xc00921fb54442d18,
                                           0x7ff0000000000000,
                                           0x7ff8000000000000,
                                           1,
                                           0x7fefffffffffffff};
  static constexpr uint64_t kFloat16s[] = {0x0000, 0x8000, 0x3c00, 0xc248, 0x7c00,
                                           0x7e00, 0x0001, 0x7bff, 0x3555};
  static constexpr uint64_t kBFloat16s[] = {0x0000, 0x8000, 0x3f80, 0xc049, 0x7f80,
                                            0x7fc0, 0x0001, 0x7f7f, 0x3eab};
  static constexpr uint64_t kBools[] = {0, 1, 1, 0, 1};
  static constexpr uint64_t kBits[] = {0,
                                       ~uint64_t{0},
                                       uint64_t{1} << 63,
                                       ~uint64_t{0} >> 1,
                                       0x8080808080808080,
                                       0x7f7f7f7f7f7f7f7f,
                                       1,
                                       0x0123456789abcdef};
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return kFloat32s;
    case DType::kFloat64:
    case DType::kComplex128:
      return kFloat64s;
    case DType::kFloat16:
      return kFloat16s;
    case DType::kBFloat16:
      return kBFloat16s;
    case DType::kBool:
      return kBools;
    default:
      return kBits;
  }
}

// Bytes of one pattern; a complex number takes two.
size_t UnitOf(DType dtype) {
  const auto bytes = static_cast<size_t>(std::max(BitsOf(dtype), 8) / 8);
  return Kind(dtype) == DTypeKind::kComplex ? bytes / 2 : bytes;
}

Result<Tensor> TrickyStrings(Dims dims, int64_t count) {
  static const std::string kTexts[] = {"", "a", "ünïcode \xe2\x82\xac", std::string(3000, 'l'),
                                       " b\n"};
  std::vector<std::string> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(kTexts[static_cast<size_t>(i) % 5]);
  return Tensor::FromStrings(std::move(dims), values);
}

Result<UniqueFd> InMemory(const std::string& bytes) {
  UniqueFd memory(::memfd_create("conformance-model", MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(bytes.size());
  if (!memory.valid() || ::pwrite(memory.get(), bytes.data(), bytes.size(), 0) != size) {
    return Internal("no memory for a model");
  }
  return memory;
}

bool SameTensor(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

std::string Describe(const Tensor& tensor) {
  return std::string(DTypeName(tensor.dtype())) + FormatDims(tensor.dims());
}

}  // namespace

TensorInfo Input(std::string name, DType dtype, std::vector<int64_t> dims) {
  TensorInfo info{std::move(name), dtype, std::vector<Dim>{}};
  for (const int64_t dim : dims) {
    info.shape->push_back({dim, dim < 0 ? "d" + std::to_string(info.shape->size()) : ""});
  }
  return info;
}

Result<Tensor> TrickyTensor(DType dtype, Dims dims, uint64_t seed) {
  const int64_t count = ElementCount(dims).value_or(0);
  if (dtype == DType::kString) return TrickyStrings(std::move(dims), count);
  const std::optional<uint64_t> size = ByteSize(dtype, static_cast<uint64_t>(count));
  if (!size) return Internal("no values of that type");
  std::vector<std::byte> bytes(static_cast<size_t>(*size));
  const std::span<const uint64_t> patterns = PatternsOf(dtype);
  const size_t unit = UnitOf(dtype);
  for (size_t i = 0; i * unit < bytes.size(); ++i) {
    const uint64_t pattern = patterns[(i + seed) % patterns.size()];
    std::memcpy(bytes.data() + i * unit, &pattern, unit);
  }
  // The unused half of the last byte is zero by convention.
  if (BitsOf(dtype) == 4 && count % 2 != 0) bytes.back() &= std::byte{0x0f};
  return Tensor::Copy(dtype, std::move(dims), bytes);
}

Result<TensorMap> TrickyFeed(const std::vector<TensorInfo>& inputs, uint64_t seed) {
  TensorMap feed;
  for (const TensorInfo& input : inputs) {
    Dims dims;
    for (const Dim& dim : *input.shape) dims.push_back(dim.value);
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TrickyTensor(input.dtype, std::move(dims), seed++));
    feed.push_back({input.name, std::move(tensor)});
  }
  return feed;
}

Status BackendUnderTest::ExpectAlive() const {
  return alive() ? Status() : Failed("the worker has died: " + worker_->death().message());
}

Result<BackendInfo> BackendUnderTest::Load(OptionList options) {
  if (!alive() || !options.empty()) {
    WorkerOptions worker;
    worker.load = {{plugin_}, std::move(options)};
    worker.timeout_s = kTimeoutSeconds;
    worker.interrupted = &interrupted_;
    VERNIER_ASSIGN_OR_RETURN(worker_, Worker::Start(std::move(worker), log_));
  }
  return worker_->AwaitLoad();
}

Result<OpenModel> BackendUnderTest::OpenRequested(OpenRequest request, const UniqueFd& memory,
                                                  const std::vector<TensorInfo>& inputs) {
  VERNIER_TRY(Load().status());
  request.session = next_session_++;
  request.inputs = inputs;
  for (const TensorInfo& input : inputs) request.outputs.push_back(OutputName(input.name));
  OpenModel model{request.session, inputs, {}};
  VERNIER_ASSIGN_OR_RETURN(model.description, worker_->Open(request, memory));
  return model;
}

Result<OpenModel> BackendUnderTest::OpenPath(const std::string& path,
                                             const std::vector<TensorInfo>& inputs,
                                             OptionList options) {
  OpenRequest request;
  request.model_path = path;
  request.options = std::move(options);
  return OpenRequested(std::move(request), UniqueFd(), inputs);
}

Result<OpenModel> BackendUnderTest::OpenBytes(const std::string& bytes,
                                              const std::vector<TensorInfo>& inputs,
                                              OptionList options) {
  const std::string path = folder_ + "/model.onnx";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return OpenPath(path, inputs, std::move(options));
}

Result<OpenModel> BackendUnderTest::Open(const std::vector<TensorInfo>& inputs) {
  Result<OpenModel> model = OpenBytes(ModelBytes(inputs), inputs);
  if (model.ok() || !alive()) return model;
  return Refused(model.status());
}

Result<OpenModel> BackendUnderTest::OpenFromMemory(const std::vector<TensorInfo>& inputs) {
  const std::string bytes = ModelBytes(inputs);
  VERNIER_ASSIGN_OR_RETURN(const UniqueFd memory, InMemory(bytes));
  OpenRequest request;
  // Nobody may read this path: the file does not exist.
  request.model_path = folder_ + "/only-in-memory.onnx";
  request.model_bytes = bytes.size();
  Result<OpenModel> model = OpenRequested(std::move(request), memory, inputs);
  if (model.ok() || !alive()) return model;
  return Refused(model.status());
}

Result<TensorMap> BackendUnderTest::Run(const OpenModel& model, const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  VERNIER_ASSIGN_OR_RETURN(Worker::Outcome outcome, worker_->Run(model.session, block, "running"));
  if (!outcome.outputs.skipped.empty()) {
    const SkippedOutput& skipped = outcome.outputs.skipped.front();
    return Unimplemented("'" + skipped.name + "' was not handed over: " + skipped.why);
  }
  return std::move(outcome.outputs.tensors);
}

Result<std::vector<KeptOutput>> BackendUnderTest::RunStep(const OpenModel& model,
                                                          const TensorBlock& feed) {
  OutputsToKeep kept;
  for (const TensorInfo& output : model.description.outputs) kept.names.push_back(output.name);
  VERNIER_ASSIGN_OR_RETURN(Worker::Outcome outcome,
                           worker_->Run(model.session, feed, "running a step", kept));
  if (!outcome.outputs.tensors.empty()) return Failed("an output of a step did not stay");
  return std::move(outcome.outputs.kept);
}

Status BackendUnderTest::ExpectEcho(const OpenModel& model, const TensorMap& feed) {
  Result<TensorMap> outputs = Run(model, feed);
  if (!outputs.ok()) return alive() ? Refused(outputs.status()) : outputs.status();
  if (outputs->size() != feed.size()) {
    return Failed("got " + std::to_string(outputs->size()) + " outputs for " +
                  std::to_string(feed.size()) + " inputs");
  }
  for (const auto& [name, expected] : feed) {
    // Backends without a framework give back the inputs themselves.
    const Tensor* actual = Find(*outputs, OutputName(name));
    if (actual == nullptr) actual = Find(*outputs, name);
    if (actual == nullptr) return Failed("input '" + name + "' did not come out");
    if (SameTensor(*actual, expected)) continue;
    return Failed("input '" + name + "', " + Describe(expected) + ", came out as " +
                  Describe(*actual) +
                  (actual->bytes().size() == expected.bytes().size() ? " with other bytes" : ""));
  }
  return {};
}

}  // namespace vernier
