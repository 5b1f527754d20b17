// Names of tensors and files are untrusted text: control characters are shown, not sent to the
// terminal.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// Appends one line. Control characters other than tabs, also line breaks, marks that change the
/// direction of writing, and bytes that are not UTF-8 become escapes: "\\x0a", "\\u202e".
void AppendVisible(std::string_view line, std::string& out);

/// The same as a string: for names, which must not end the line that they stand in.
std::string VisibleLine(std::string_view text);

}  // namespace vernier
