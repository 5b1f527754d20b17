// The names of the tensors of an archive, of which there may be very many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/kept_texts.h"

namespace vernier {

/// 16 bytes a name where names are "<runner>/<iteration>/<output>" or "<iteration>/<input>": the
/// other parts come back in every iteration and are kept once. Any other name is kept whole.
class ArchiveNameTable {
 public:
  struct Parts {
    uint32_t run = 0;     ///< for RunText()
    uint32_t tensor = 0;  ///< for TensorText()
    uint64_t iteration = 0;

    bool operator==(const Parts&) const = default;
  };

  size_t size() const { return names_.size(); }
  void Reserve(size_t count) { names_.reserve(count); }
  void Add(std::string_view name);

  /// The name as it was added.
  std::string Text(size_t index) const;

  /// nullopt for a name of any other form.
  std::optional<Parts> PartsOf(size_t index) const;
  const std::string& RunText(uint32_t run) const { return runs_[run]; }
  const std::string& TensorText(uint32_t tensor) const { return tensors_[tensor]; }

  /// To be called when all names are there: the index of one that is there twice, if any is.
  std::optional<size_t> Finish();

  /// The place of a name, the last one where there are several; after Finish().
  std::optional<size_t> Find(std::string_view name) const;

 private:
  std::vector<Parts> names_;  // the run is kWhole where the tensor's text is all of the name
  KeptTexts runs_;
  KeptTexts tensors_;
  std::vector<uint32_t> sorted_;  // indices in the order of names_; empty where names_ is sorted
};

}  // namespace vernier
