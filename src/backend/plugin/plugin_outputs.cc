#include "backend/plugin/plugin_outputs.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "backend/plugin/abi_tensors.h"
#include "io/bytes/checksum.h"
#include "vernier/backend_dtype.h"

namespace vernier {
namespace {

// No framework has tensors of more dimensions; a larger number is a defect or an attack.
constexpr uint32_t kMaxRank = 1024;

uint64_t HashOf(std::span<const std::byte> bytes) {
  Checksum checksum;
  checksum.Add(bytes);
  return checksum.value();
}

// Everything that can be known without reading the data, so that a wrong answer is a sentence and
// not a crash of this process. Offsets of strings are checked by the reader of the block.
Status CheckData(const vn_tensor& t, DType dtype) {
  VERNIER_TRY(CheckShape(t));
  const std::span<const int64_t> dims(t.shape, t.rank);
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count) return BadTensor(t, "has the impossible shape " + FormatDims(dims));
  if (t.data == nullptr && t.byte_size > 0) return BadTensor(t, "has no data");
  if (dtype == DType::kString) return {};
  const std::optional<uint64_t> size = ByteSize(dtype, static_cast<uint64_t>(*count));
  if (size == t.byte_size) return {};
  return BadTensor(t, "has " + std::to_string(t.byte_size) + " bytes, but " +
                          std::string(DTypeName(dtype)) + " of shape " + FormatDims(dims) +
                          " needs " +
                          (size ? std::to_string(*size) : std::string("more than exist")));
}

// Host memory is read where it lies.
Result<uint64_t> HashOfKept(const vn_tensor& t, DeviceTensors& kept) {
  if (t.device_type == VN_DEVICE_CPU) {
    return HashOf(std::span(static_cast<const std::byte*>(t.data), t.byte_size));
  }
  std::vector<std::byte> bytes(t.byte_size);
  VERNIER_TRY(kept.CopyToHost(t, bytes));
  return HashOf(bytes);
}

bool IsSupported(const vn_tensor& t, std::optional<DType> dtype) {
  if (!dtype || t.dtype_lanes != 1) return false;
  return t.device_type == VN_DEVICE_CPU ||
         (t.device_type == VN_DEVICE_CUDA && *dtype != DType::kString);
}

void AddKept(OwnedTensor owned, const OutputDestination& to) {
  const vn_tensor& kept = owned.abi();
  const DType dtype = owned.dtype();
  const uint64_t handle = to.places.tensors.Keep(to.places.session, std::move(owned));
  to.builder.AddKept(View(kept.name), dtype, std::span(kept.shape, kept.rank), handle);
}

// `t` becomes null when it is kept.
void AddDeviceOutput(vn_tensor*& t, DType dtype, const OutputDestination& to) {
  const std::span<const int64_t> dims(t->shape, t->rank);
  if (to.places.place == OutputPlace::kHost) {
    to.builder.AddFilled(View(t->name), dtype, dims, t->byte_size,
                         [&places = to.places, lent = to.lent, tensor = t](auto bytes) {
                           return places.tensors.CopyToHost(*tensor, bytes, lent)
                               .Annotate("output '" + std::string(View(tensor->name)) + "'");
                         });
    return;
  }
  AddKept(OwnedTensor(std::exchange(t, nullptr), dtype, ElementCount(dims).value_or(0)), to);
}

// A model may hand on what it was given, whose memory is another's.
bool LiesInInputs(const vn_tensor& t, std::span<const vn_tensor* const> inputs) {
  const std::less<const std::byte*> before;
  const auto* const begin = static_cast<const std::byte*>(t.data);
  return std::ranges::any_of(inputs, [&](const vn_tensor* input) {
    const auto* const first = static_cast<const std::byte*>(input->data);
    return before(begin, first + input->byte_size) && before(first, begin + t.byte_size);
  });
}

// A tensor of our own, in host memory.
struct HostCopy {
  vn_tensor tensor{};
  std::string name;
  Dims shape;
  std::optional<TensorBuffer> bytes;

  static void Release(vn_tensor* tensor) noexcept { delete static_cast<HostCopy*>(tensor->owner); }
};

Result<OwnedTensor> CopyOf(const vn_tensor& t, DType dtype, const OutputDestination& to) {
  auto copy = std::make_unique<HostCopy>();
  copy->name = View(t.name);
  copy->shape.assign(t.shape, t.shape + t.rank);
  VERNIER_ASSIGN_OR_RETURN(copy->bytes, TensorBuffer::Allocate(dtype, copy->shape));
  VERNIER_TRY(to.places.tensors.CopyToHost(t, copy->bytes->bytes()));
  copy->tensor = t;
  vn_tensor& own = copy->tensor;
  own.name = Str(copy->name);
  own.shape = copy->shape.data();
  own.data = copy->bytes->bytes().data();
  own.device_type = VN_DEVICE_CPU;
  own.device_id = 0;
  own.sync = nullptr;
  own.release = &HostCopy::Release;
  own.owner = copy.get();
  own.note = {};
  const int64_t count = ElementCount(copy->shape).value_or(0);
  return OwnedTensor(&copy.release()->tensor, dtype, count);
}

// For a later run. Where the plug-in takes it there, it stays where it is.
Status KeepForLater(vn_tensor*& t, DType dtype, const OutputDestination& to) {
  const uint32_t here = t->device_type == VN_DEVICE_CUDA ? VN_FEEDS_BACK_CUDA : VN_FEEDS_BACK_CPU;
  if ((to.feeds_back & here) == 0 || LiesInInputs(*t, to.inputs)) {
    VERNIER_ASSIGN_OR_RETURN(OwnedTensor copy, CopyOf(*t, dtype, to));
    AddKept(std::move(copy), to);
    return {};
  }
  const int64_t count = ElementCount(std::span(t->shape, t->rank)).value_or(0);
  AddKept(OwnedTensor(std::exchange(t, nullptr), dtype, count, to.memory), to);
  return {};
}

}  // namespace

Status BadTensor(const vn_tensor& t, std::string_view what) {
  return BackendError("the backend's tensor '" + std::string(View(t.name)) + "' " +
                      std::string(what));
}

Status CheckShape(const vn_tensor& t) {
  if (t.rank > kMaxRank || (t.rank > 0 && t.shape == nullptr)) {
    return BadTensor(t, "has an impossible shape");
  }
  return {};
}

Status AddOutput(vn_tensor*& output, DType declared, const OutputDestination& to) {
  const vn_tensor& t = *output;
  if (t.dtype_code == VN_DTYPE_SKIPPED) {
    to.builder.AddSkipped(View(t.name), t.note.size > 0 ? View(t.note) : "no reason was given");
    return {};
  }
  const std::optional<DType> dtype = FromAbi(t.dtype_code, t.dtype_bits);
  if (!IsSupported(t, dtype)) {
    to.builder.AddSkipped(View(t.name), "its element type or device is not supported");
    return {};
  }
  if (declared != DType::kUndefined && *dtype != declared) {
    return BadTensor(t, "is " + std::string(DTypeName(*dtype)) + ", but its signature says " +
                            std::string(DTypeName(declared)));
  }
  VERNIER_TRY(CheckData(t, *dtype));
  const bool kept = std::ranges::find(to.places.kept, View(t.name)) != to.places.kept.end();
  if (kept && *dtype != DType::kString) return KeepForLater(output, *dtype, to);
  if (t.device_type == VN_DEVICE_CUDA) {
    AddDeviceOutput(output, *dtype, to);
    return {};
  }
  to.builder.Add(View(t.name), *dtype, std::span(t.shape, t.rank),
                 std::span(static_cast<const std::byte*>(t.data), t.byte_size));
  return {};
}

Status ResolveLastStep(std::span<const std::string> kept, uint64_t session,
                       const DeviceTensors& tensors, DecodedBlock& feed) {
  for (KeptOutput& state : feed.kept) {
    if (state.handle < kOfLastStep) continue;
    const uint64_t place = state.handle - kOfLastStep;
    state.handle = place < kept.size() ? tensors.LastOf(session, kept[place]) : 0;
    const OwnedTensor* const last = tensors.Find(state.handle);
    if (last == nullptr) return Internal("there is no step before this one");
    state.dtype = last->dtype();
    state.dims.assign(last->abi().shape, last->abi().shape + last->abi().rank);
  }
  return {};
}

Result<std::vector<FedBack>> FindFedBack(const DecodedBlock& feed, const DeviceTensors& kept) {
  std::vector<FedBack> found;
  for (const KeptOutput& state : feed.kept) {
    const OwnedTensor* const tensor = kept.Find(state.handle);
    const std::optional<int64_t> count = ElementCount(state.dims);
    if (tensor == nullptr || tensor->dtype() != state.dtype || tensor->count() != count) {
      return Internal("a step is fed with an output that is not kept");
    }
    found.push_back({state.name, state.dims, tensor});
  }
  return found;
}

Result<InputHashes> HashesOf(const DecodedBlock& feed, DeviceTensors& kept) {
  InputHashes hashes;
  for (const NamedTensor& input : feed.tensors) {
    hashes.emplace_back(input.name, HashOf(input.tensor.bytes()));
  }
  for (const KeptOutput& input : feed.kept) {
    VERNIER_ASSIGN_OR_RETURN(const uint64_t hash, HashOfKept(kept.Find(input.handle)->abi(), kept));
    const size_t place = std::min(input.position, hashes.size());
    hashes.insert(hashes.begin() + static_cast<ptrdiff_t>(place), {input.name, hash});
  }
  return hashes;
}

}  // namespace vernier
