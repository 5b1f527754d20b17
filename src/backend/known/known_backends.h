// What vernier knows of its own backends before their workers have loaded them. abilities.def in
// the folder of each plug-in says it, for the plug-in as well, which states the same across the C
// boundary; python_program.h says it of what Python serves. Of a plug-in that is not vernier's, all
// this is known once it has been loaded: BackendInfo.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/wire/messages.h"

namespace vernier {

struct KnownBackend {
  std::string_view name;
  std::vector<std::string> model_formats = {};  ///< as BackendInfo has them
  uint32_t traits = 0;                          ///< likewise
  std::vector<OptionMeaning> means = {};        ///< options that it has, of those asked for by then
};

std::span<const KnownBackend> KnownBackendList();

/// Null: not one of ours. "tensorrt_10" is the plug-in of "tensorrt" for one release of it.
const KnownBackend* FindKnownBackend(std::string_view backend);

/// Is it known by then that the backend has this trait, or such an option?
bool IsKnownToHave(std::string_view backend, BackendTrait trait);
bool IsKnownToHave(std::string_view backend, OptionMeaning meaning);

/// Does a list of formats have that of this file: `type` is its word of --model-type, which may be
/// empty?
bool ListsFormat(std::span<const std::string> formats, std::string_view type,
                 std::string_view path);

}  // namespace vernier
