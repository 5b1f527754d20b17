// The file formats of saved inputs.
#pragma once

#include <memory>
#include <string>

#include "io/feed_reader.h"
#include "io/tensor_archive.h"
#include "vernier/status.h"

namespace vernier {

Result<std::unique_ptr<FeedReader::Source>> OpenJsonFeeds(const std::string& path);
Result<std::unique_ptr<FeedReader::Source>> OpenArchiveFeeds(const std::string& path,
                                                             ArchiveFormat format);

/// One tensor, called as the file without its extension.
Result<std::unique_ptr<FeedReader::Source>> OpenNpyFeed(const std::string& path);

/// One tensor under its own name, or else the file's without its extension.
Result<std::unique_ptr<FeedReader::Source>> OpenProtobufFeed(const std::string& path);

/// One feed of all `input_<n>.pb` files of a directory, in the order of n.
Result<std::unique_ptr<FeedReader::Source>> OpenOnnxTestData(const std::string& directory);

/// Whether the name is `input_<n>.pb`.
bool IsTestInputName(std::string_view name);

}  // namespace vernier
