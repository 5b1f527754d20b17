// Names of runners.
#pragma once

#include <string>

namespace vernier {

/// A runner's name without the time that unnamed ones are given
/// ("onnxrt-runner-N0-11/22/26-14:05:09"): the same for each run of a command. Other names stay as
/// they are, a time in them or not.
std::string WithoutTime(const std::string& name);

/// Does `word` stand for the runner `name`: by the name itself, without its time, without its
/// number too, or as the kind alone ("onnxrt")? Several runners may be meant by one word.
bool IsCalled(const std::string& name, const std::string& word);

}  // namespace vernier
