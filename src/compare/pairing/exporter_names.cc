#include "compare/pairing/exporter_names.h"

#include <algorithm>
#include <utility>

#include "util/values/joined.h"

namespace vernier {
namespace {

constexpr std::string_view kScopes[] = {"StatefulPartitionedCall", "PartitionedCall", "model",
                                        "functional", "sequential"};
constexpr std::string_view kExportedOutput = "_output_";

bool AreDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view WithoutNumber(std::string_view text, std::string_view separator) {
  const size_t at = text.rfind(separator);
  const bool numbered =
      at != std::string_view::npos && AreDigits(text.substr(at + separator.size()));
  return numbered ? text.substr(0, at) : text;
}

bool IsScope(std::string_view part) {
  const std::string_view plain = WithoutNumber(part, "_");
  return std::find(std::begin(kScopes), std::end(kScopes), plain) != std::end(kScopes);
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// "layer1", "layer1.0", "conv1": the path of a module repeats that of the one around it.
std::string ModulePath(const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> path;
  for (const std::string_view part : parts) {
    const bool repeats = !path.empty() && part.size() > path.back().size() &&
                         part.starts_with(path.back()) && part[path.back().size()] == '.';
    if (repeats) path.pop_back();
    path.push_back(part);
  }
  return Joined(path, ".");
}

}  // namespace

std::string PlainTensorName(std::string_view name) {
  const std::string_view whole = WithoutNumber(name.substr(0, name.find(';')), ":");
  std::vector<std::string_view> parts = SplitPath(whole);
  if (parts.empty()) return std::string(name);
  const bool exported = whole.starts_with('/') && parts.size() > 1 &&
                        WithoutNumber(parts.back(), kExportedOutput) != parts.back();
  if (exported) {
    parts.pop_back();
    return ModulePath(parts);
  }
  while (parts.size() > 1 && IsScope(parts.front())) parts.erase(parts.begin());
  return Joined(parts, "/");
}

std::vector<std::string> PlainTensorNames(std::string_view name) {
  std::vector<std::string> names = {PlainTensorName(name)};
  for (size_t end = name.find(';'); end != std::string_view::npos; end = name.find(';')) {
    name.remove_prefix(end + 1);
    const std::string_view part = name.substr(0, name.find(';'));
    std::string plain = part.empty() ? "" : PlainTensorName(part);
    const bool known = std::find(names.begin(), names.end(), plain) != names.end();
    if (!plain.empty() && !known) names.push_back(std::move(plain));
  }
  return names;
}

}  // namespace vernier
