// How the steps of a runner were fed whose outputs several files have (`data concat`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vernier {

/// What a file has of a runner: at least one iteration.
struct FeedingPart {
  std::string feeding;
  size_t iterations = 0;
  std::optional<uint64_t> first_mark = {}, last_mark = {};  ///< of the feeds of its first and last
};

/// One text for iterations one after another; nullopt where the parts say otherwise how steps were
/// fed. That they are of other states is no difference, nor that sequences were cut: parts that
/// follow one another are whole again, other ones are cut as they were.
std::optional<std::string> JoinFeedings(const std::vector<FeedingPart>& parts);

}  // namespace vernier
