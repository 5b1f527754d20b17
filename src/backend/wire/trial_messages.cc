#include "backend/wire/trial_messages.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace vernier {
namespace {

constexpr size_t kTensorAlignment = 64;  // of a TensorBuffer

}  // namespace

void TrialRequest::Encode(MessageWriter& out) const {
  out.Number(session);
  out.Number(shift);
  out.Number(static_cast<uint8_t>(fill.has_value()));
  out.Number(fill.value_or(0));
}

TrialRequest TrialRequest::Decode(MessageReader& in) {
  TrialRequest request;
  request.session = in.Number<uint64_t>();
  request.shift = in.Number<uint64_t>() % kTensorAlignment;
  const bool filled = in.Number<uint8_t>() != 0;
  const auto fill = in.Number<uint8_t>();
  if (filled) request.fill = fill;
  return request;
}

void TrialReport::Encode(MessageWriter& out) const {
  out.Number<uint64_t>(written.size());
  for (const WrittenInput& input : written) {
    out.Text(input.name);
    out.Number(input.bytes);
    out.Number(input.first);
  }
  out.Number(placed);
}

TrialReport TrialReport::Decode(MessageReader& in) {
  TrialReport report;
  report.written.resize(in.Count(3 * sizeof(uint64_t)));
  for (WrittenInput& input : report.written) {
    input.name = in.Text();
    input.bytes = in.Number<uint64_t>();
    input.first = in.Number<uint64_t>();
  }
  report.placed = in.Number<uint64_t>();
  return report;
}

uint64_t ShiftFor(DType dtype, uint64_t shift) {
  // Offsets of strings are 64 bit; packed types begin at any byte.
  const uint64_t item = dtype == DType::kString ? sizeof(int64_t) : ByteSize(dtype, 1).value_or(1);
  return (shift + item - 1) / item * item % kTensorAlignment;
}

Result<TrialInputs> TrialInputs::Make(const TensorMap& originals, uint64_t shift) {
  TrialInputs inputs(originals);
  for (const NamedTensor& original : originals) {
    const Tensor& tensor = original.tensor;
    const size_t size = tensor.bytes().size();
    const uint64_t begin = ShiftFor(tensor.dtype(), shift);
    VERNIER_ASSIGN_OR_RETURN(
        TensorBuffer buffer,
        TensorBuffer::Allocate(DType::kUint8, {static_cast<int64_t>(size + kTensorAlignment)}));
    const std::span<std::byte> bytes = buffer.bytes().subspan(begin, size);
    if (size > 0) std::memcpy(bytes.data(), tensor.bytes().data(), size);
    auto memory = std::make_shared<const Tensor>(std::move(buffer).Freeze());
    VERNIER_ASSIGN_OR_RETURN(Tensor copy,
                             Tensor::Wrap(tensor.dtype(), tensor.dims(), bytes, std::move(memory)));
    inputs.copies_.push_back({original.name, std::move(copy)});
  }
  return inputs;
}

std::vector<WrittenInput> TrialInputs::FindWritten() const {
  std::vector<WrittenInput> written;
  for (size_t i = 0; i < copies_.size(); ++i) {
    const std::span<const std::byte> before = (*originals_)[i].tensor.bytes();
    const std::span<const std::byte> after = copies_[i].tensor.bytes();
    if (before.empty() || std::memcmp(before.data(), after.data(), before.size()) == 0) continue;
    WrittenInput input{.name = copies_[i].name};
    for (size_t at = before.size(); at-- > 0;) {
      if (before[at] == after[at]) continue;
      ++input.bytes;
      input.first = at;
    }
    written.push_back(std::move(input));
  }
  return written;
}

}  // namespace vernier
