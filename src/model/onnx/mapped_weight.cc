#include "model/onnx/mapped_weight.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "io/test_data/tensor_proto.h"
#include "util/files/input_file.h"

namespace vernier {
namespace {

// Values are looked at where they lie, if their type may be there.
bool IsAligned(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignof(std::max_align_t) == 0;
}

}  // namespace

Result<MappedWeight> MapWeight(const OnnxModel& model, const OnnxTensor& tensor,
                               const ExternalDataOptions& options) {
  if (!tensor.external) {
    VERNIER_ASSIGN_OR_RETURN(
        NamedTensor parsed,
        ParseTensorProto(std::as_bytes(std::span(tensor.bytes.data(), tensor.bytes.size()))));
    return MappedWeight{std::move(parsed.tensor), nullptr};
  }
  VERNIER_ASSIGN_OR_RETURN(const ExternalFolder folder,
                           ExternalFolder::Open(model.path(), options));
  VERNIER_ASSIGN_OR_RETURN(const ExternalFile file, folder.OpenFile(tensor.location));
  VERNIER_ASSIGN_OR_RETURN(const ExternalSlice slice, LocateExternal(tensor, file.size()));
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> input,
                           InputFile::FromDescriptor(file.fd(), file.path()));
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> map,
                           MappedFile::Map(std::move(input)));
  // The map may be shorter by now than the file that was asked.
  if (map->bytes().size() < slice.offset + slice.size) {
    return Malformed("'" + file.path() + "' does not hold all of it");
  }
  const std::span<const std::byte> bytes = map->bytes().subspan(slice.offset, slice.size);
  VERNIER_ASSIGN_OR_RETURN(Tensor values, IsAligned(bytes)
                                              ? Tensor::Wrap(tensor.dtype, tensor.dims, bytes, map)
                                              : Tensor::Copy(tensor.dtype, tensor.dims, bytes));
  return MappedWeight{std::move(values), std::move(map)};
}

}  // namespace vernier
