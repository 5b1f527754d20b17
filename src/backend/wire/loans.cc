#include "backend/wire/loans.h"

#include <algorithm>

namespace vernier {

Result<std::shared_ptr<const MappedFile>> Loans::Map(int fd, size_t size, uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.number == number && kept.map->bytes().size() == size;
  });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().map;
  }
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> map,
                           MappedFile::FromDescriptor(fd, size, "tensors of a worker"));
  if (size > kLargestKept) return map;
  kept_.push_front({number, map});
  kept_size_ += size;
  while (kept_size_ > kMostKept) {
    kept_size_ -= kept_.back().map->bytes().size();
    kept_.pop_back();
  }
  return map;
}

}  // namespace vernier
