#include "cli/help/man_page.h"

#include <algorithm>

#include "cli/help/help_text.h"

namespace vernier {
namespace {

// roff reads a leading . or ' as a request, \ as an escape, and a plain - as a hyphen that cannot
// be copied into a shell.
std::string Escape(std::string_view text) {
  std::string escaped;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) escaped = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string HeaderName(std::string_view command) {
  std::string name(command);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    if (c == ' ') return '-';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return name;
}

std::string ExitCodes() {
  return ".SH EXIT STATUS\n"
         ".TP\n0\nEverything that was asked for was done.\n"
         ".TP\n1\nOutputs differ, a check failed, or the model lacks a name.\n"
         ".TP\n2\nThe command line cannot be parsed.\n"
         ".TP\n3\nA model, input or result file is missing or malformed.\n"
         ".TP\n4\nA comparison was asked for and not everything could be compared.\n"
         ".TP\n5\nA named backend is not usable here.\n"
         ".TP\n6\nA backend failed, crashed or hung.\n"
         ".TP\n7\nSomething that should be saved was not.\n"
         ".TP\n70\nInternal error.\n";
}

std::string Dashed(std::string_view command) {
  std::string dashed(command);
  std::replace(dashed.begin(), dashed.end(), ' ', '-');
  return dashed;
}

}  // namespace

std::string ManPageFile(const CommandSpec& command) { return Dashed(command.FullName()) + ".1"; }

std::string FormatManPage(const OptionTable& table, const CommandSpec& command,
                          std::string_view version, std::string_view date) {
  std::string page = ".TH \"" + Escape(HeaderName(command.FullName())) + "\" \"1\" \"" +
                     std::string(date) + "\" \"" + Escape(version) + "\" \"User Commands\"\n";
  page +=
      ".SH NAME\n" + Escape(Dashed(command.FullName())) + " \\- " + Escape(command.summary) + "\n";
  page += ".SH SYNOPSIS\n.B " + Escape(command.FullName()) + "\n" + Escape(command.operands) + "\n";
  page += ".SH DESCRIPTION\n" + Escape(command.about) + "\n.SH OPTIONS\n";
  for (const CommandGroup& group : table.groups()) {
    page += ".SS \"" + Escape(group.title) + "\"\n";
    for (const OptionRow* row : group.rows) {
      page += ".TP\n.B " + Escape(FormatSynopsis(*row)) + "\n" +
              Escape(FormatRowHelp(*row, table.NeedsOf(*row))) + "\n";
    }
  }
  return page + ExitCodes();
}

}  // namespace vernier
