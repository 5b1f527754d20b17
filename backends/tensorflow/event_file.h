// What --save-pb and --save-tensorboard write.
#pragma once

#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier::tf {

/// The file appears whole or not at all; missing folders are made. kIo with the reason.
Status WriteWhole(const std::string& path, std::string_view bytes);

/// An events file for TensorBoard in `folder`, with this serialized GraphDef. Returns its path.
Result<std::string> WriteGraphEvents(const std::string& folder, std::string_view graph_def);

}  // namespace vernier::tf
