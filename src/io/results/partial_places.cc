#include "io/results/partial_places.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/results/partial_folder.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Takes `.12` off the beginning, if it is there.
void SkipNumber(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  if (text.starts_with('.') && end > 1) text.remove_prefix(end);
}

// What may stand behind NAME.
bool NamesParts(std::string_view rest) {
  constexpr std::string_view kPartial = kPartialSuffix, kResumed = kResumedSuffix;
  if (rest.starts_with(kResumed)) {
    rest.remove_prefix(kResumed.size());
    SkipNumber(rest);
  }
  if (!rest.starts_with(kPartial)) return false;
  rest.remove_prefix(kPartial.size());
  SkipNumber(rest);
  return rest.empty();
}

Status CannotReplace(const std::string& to, const std::string& why) {
  return IoError("'" + to + "' cannot be replaced: " + why);
}

// Where the old folder is afterwards.
Result<std::string> Exchange(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return from;
  const bool unknown = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
  if (!unknown) return CannotReplace(to, std::strerror(errno));
  // Not every file system can.
  const std::string aside = FreePlace(from);
  std::error_code error;
  fs::rename(to, aside, error);
  if (error) return CannotReplace(to, error.message());
  fs::rename(from, to, error);
  if (!error) return aside;
  std::error_code ignored;
  fs::rename(aside, to, ignored);
  return CannotReplace(to, error.message());
}

// Whatever is no iteration was put there by someone else.
void EmptyInto(const std::string& old, const std::string& replacement) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(old, error)) {
    std::error_code ignored;
    if (entry.path().extension() == ".json") {
      fs::remove(entry.path(), ignored);
    } else {
      fs::rename(entry.path(), replacement / entry.path().filename(), ignored);
    }
  }
  fs::remove(old, error);
}

}  // namespace

std::vector<std::string> PartsBeside(const std::string& name) {
  const fs::path parent = fs::path(name).parent_path();
  const std::string own = fs::path(name).filename().string();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    if (!other.starts_with(own) || !NamesParts(std::string_view(other).substr(own.size())))
      continue;
    found.push_back((parent / other).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::string FreePlace(const std::string& path) {
  std::string name = path;
  for (int n = 1; IsThere(name) || IsThere(name + kPartialSuffix); ++n) {
    name = path + "." + std::to_string(n);
  }
  return name;
}

Status ReplaceIterations(const std::string& from, const std::string& to) {
  std::error_code error;
  // An empty folder is replaced by rename() itself.
  if (!IsThere(to) || fs::is_empty(to, error)) {
    fs::rename(from, to, error);
    return error ? CannotReplace(to, error.message()) : Status();
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string old, Exchange(from, to));
  EmptyInto(old, to);
  return {};
}

Status ReplaceFolder(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!IsThere(to)) {
    fs::rename(from, to, error);
    return error ? CannotReplace(to, error.message()) : Status();
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string old, Exchange(from, to));
  fs::remove_all(old, error);
  return {};
}

}  // namespace vernier
