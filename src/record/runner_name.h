// Names of runners.
#pragma once

#include <string>

namespace vernier {

/// A runner's name without the time that unnamed ones are given
/// ("onnxrt-runner-N0-11/22/26-14:05:09"): the same for each run of a command. Other names stay as
/// they are, a time in them or not.
std::string WithoutTime(const std::string& name);

}  // namespace vernier
