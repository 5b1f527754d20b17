// Text from models inside of other languages. Names may hold anything: what has no form there, such
// as control characters and bytes that are not UTF-8, becomes U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// For XML 1.0, between tags. Line ends and tabs survive.
std::string XmlText(std::string_view text);

/// For an attribute of XML 1.0: line ends and tabs survive there as well. A byte that is no UTF-8
/// becomes "\xff", so that names which differ in such bytes alone stay apart.
std::string XmlAttribute(std::string_view text);

/// For a line of Markdown as GitHub reads it: no formatting, no link, no mention, no HTML, and no
/// end of a table cell. Line ends become blanks.
std::string EscapeMarkdown(std::string_view text);

/// For a fenced block of Markdown: the text between fences longer than any in it.
std::string FenceMarkdown(std::string_view text, std::string_view language);

/// For the message, or with `property` for a property, of a GitHub workflow command.
std::string EscapeWorkflowCommand(std::string_view text, bool property);

}  // namespace vernier
