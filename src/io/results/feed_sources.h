// The file formats of saved inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive/tensor_archive.h"
#include "io/bytes/directory_listing.h"
#include "io/results/feed_reader.h"
#include "vernier/status.h"

namespace vernier {

Result<std::unique_ptr<FeedReader::Source>> OpenJsonFeeds(const std::string& path);
Result<std::unique_ptr<FeedReader::Source>> OpenArchiveFeeds(const std::string& path,
                                                             ArchiveFormat format);

/// One tensor, called as the file without its extension.
Result<std::unique_ptr<FeedReader::Source>> OpenNpyFeed(const std::string& path);

/// One tensor under its own name, or else the file's without its extension.
Result<std::unique_ptr<FeedReader::Source>> OpenProtobufFeed(const std::string& path);

/// Which files of ONNX test data: `input_<n>.pb` or `output_<n>.pb`.
enum class TestDataPart : uint8_t { kInputs, kOutputs };

/// Whether a file is called as one of them.
bool IsTestData(std::string_view name);

/// One feed of all such files of a directory, in the order of n.
Result<std::unique_ptr<FeedReader::Source>> OpenOnnxTestData(const std::string& directory,
                                                             TestDataPart part);

/// Whether a directory holds such files itself.
bool HoldsTestData(const std::string& directory, TestDataPart part);

/// The directories named `test_data_set_<n>` in a directory, in the order of n.
Result<std::vector<std::string>> ListTestDataSets(const std::string& directory);
std::vector<std::string> TestDataSetsIn(const std::string& directory,
                                        const std::vector<DirectoryEntry>& entries);

/// The source for a file, by its kind, or for a directory of test inputs.
Result<std::unique_ptr<FeedReader::Source>> OpenFeedFile(const std::string& path);

}  // namespace vernier
