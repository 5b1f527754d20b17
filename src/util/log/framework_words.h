#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// A framework's message without the places in the framework's own sources ("Exception from
/// src/core.cpp:84:", "Check 'false' failed at src/x.cpp:7:", "/onnxruntime_src/x.h:563 void F(int)
/// "), so that its first line says what is wrong. What says no more than the place is left out; of
/// a message with such places the other lines become one, or the first and the last where they are
/// many. Any other message stays as it is.
std::string WithoutSourcePlaces(std::string_view message);

}  // namespace vernier
