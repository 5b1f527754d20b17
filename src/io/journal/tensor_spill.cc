#include "io/journal/tensor_spill.h"

#include <utility>

#include "io/bytes/byte_source.h"
#include "io/bytes/raw_tensor.h"

namespace vernier {

Result<TensorSpill> TensorSpill::Create(const std::string& directory) {
  VERNIER_ASSIGN_OR_RETURN(PartFile file, PartFile::CreateUnnamed(directory));
  return TensorSpill(std::move(file));
}

Status TensorSpill::Append(const TensorMap& tensors) {
  Entry entry{.begin = file_.size(), .layout = nullptr};
  JournalLayout layout;
  for (const auto& [name, tensor] : tensors) {
    VERNIER_TRY(file_.Write(tensor.bytes()));
    layout.push_back({name, tensor.dtype(), tensor.dims(), tensor.bytes().size()});
  }
  const bool same = !entries_.empty() && *entries_.back().layout == layout;
  entry.layout =
      same ? entries_.back().layout : std::make_shared<const JournalLayout>(std::move(layout));
  entries_.push_back(std::move(entry));
  return {};
}

Result<TensorMap> TensorSpill::Read(size_t index) {
  if (reading_ == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(reading_, InputFile::FromDescriptor(file_.fd(), "temporary outputs"));
  }
  const Entry& entry = entries_[index];
  uint64_t position = entry.begin;
  TensorMap tensors;
  for (const JournalTensor& known : *entry.layout) {
    FileSource source(reading_, position, known.bytes);
    Result<Tensor> tensor = ReadRawTensor(source, pool_.get(), known.dtype, known.dims);
    if (!tensor.ok()) return IoError("temporary outputs: " + tensor.status().message());
    tensors.push_back({known.name, *std::move(tensor)});
    position += known.bytes;
  }
  return tensors;
}

}  // namespace vernier
