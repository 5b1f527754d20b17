// Labels that are the folders of images.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/bytes/directory_listing.h"
#include "run/labels/sample_labels.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string ParentOf(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().parent_path().string();
}

std::string NameOfFolder(const std::string& image) {
  return std::filesystem::path(ParentOf(image)).filename().string();
}

// The first of the folders whose images are fed that `names` lack; where they have none of them,
// they are of something else: nothing.
std::string FolderWithoutName(const std::set<std::string>& used, const ClassNames& names) {
  std::string lacking;
  bool any = false;
  for (const std::string& folder : used) {
    const bool is_class = names.ClassOf(folder).has_value();
    any |= is_class;
    if (!is_class && lacking.empty()) lacking = folder;
  }
  return any ? lacking : "";
}

std::string FaultOfFolders(const std::set<std::string>& used, const ClassNames& names) {
  for (const std::string& folder : used) {
    const size_t classes = names.CountOf(folder);
    if (classes < 2) continue;
    return "--labels folder: " + Counted(classes, "line") + " of --class-names are '" + folder +
           "', so that the folder of that name could be any of these classes: give each class a "
           "name of its own";
  }
  const std::string lacking = FolderWithoutName(used, names);
  if (lacking.empty()) return "";
  return "--labels folder: folder '" + lacking +
         "' is not a class of --class-names, and others are: rename it, or leave its images out";
}

}  // namespace

Result<SampleLabels> SampleLabels::OfFolders(const std::vector<std::string>& images,
                                             const ClassNames& names) {
  SampleLabels labels;
  labels.name_ = "--labels folder";
  labels.by_iteration_ = labels.of_images_ = true;
  const std::string root = labels.root_ = ParentOf(ParentOf(images.front()));
  std::set<std::string> used;
  for (const std::string& image : images) {
    used.insert(NameOfFolder(image));
    if (ParentOf(ParentOf(image)) == root) continue;
    return Malformed("--labels folder: '" + images.front() + "' and '" + image +
                     "' are not in folders of one folder, so that their classes have no order");
  }
  if (const std::string fault = FaultOfFolders(used, names); !fault.empty()) {
    return Malformed(fault);
  }
  labels.names_ = names.ClassOf(*used.begin()) ? names.size() : 0;
  labels.without_names_ = labels.names_ == 0 && !names.empty();
  if (labels.names_ > 0) {
    for (const std::string& folder : used) {
      labels.class_of_folder_[folder] = *names.ClassOf(folder);
    }
    return labels;
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> entries,
                           ListDirectory(root, [](std::string_view) { return true; }));
  for (const std::string& entry : entries) {
    if (!IsDirectory(entry)) continue;
    labels.class_of_folder_[std::filesystem::path(entry).filename().string()] = 0;
  }
  int64_t next = 0;
  for (auto& [folder, number] : labels.class_of_folder_) {
    number = next++;
    if (!used.contains(folder)) labels.empty_folders_.push_back(folder);
  }
  return labels;
}

std::vector<std::string> SampleLabels::folders() const {
  std::vector<std::string> names;
  for (const auto& [folder, number] : class_of_folder_) names.push_back(folder);
  return names;
}

void SampleLabels::NoteFile(int64_t iteration, const FedFile& file) {
  if (key_) return;
  if (!of_images_) {
    if (iteration == static_cast<int64_t>(places_.size())) places_.push_back(file.place);
    files_ = file.named;
    return;
  }
  const auto found = class_of_folder_.find(NameOfFolder(file.name));
  if (found == class_of_folder_.end() || ParentOf(ParentOf(file.name)) != root_) return;
  class_of_iteration_[iteration] = found->second;
}

std::string SampleLabels::DescribeEmptyFolders() const {
  if (empty_folders_.empty()) return "";
  constexpr size_t kShown = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(kShown, empty_folders_.size()); ++i) {
    shown.push_back("'" + empty_folders_[i] + "'");
  }
  if (empty_folders_.size() > kShown) shown.emplace_back("others");
  return JoinWords(shown, " and ") + Verb(shown.size(), " is a class", " are classes") +
         ", too, without an image that is fed";
}

std::string SampleLabels::DescribeClasses() const {
  if (!of_images_) return "";
  constexpr int64_t kShownClasses = 16;
  std::string text =
      name_ + ": " + Counted(class_of_folder_.size(), "folder") +
      (names_ > 0 ? " by --class-names: " : " by name, as in torchvision's ImageFolder: ");
  int64_t shown = 0;
  for (const auto& [folder, number] : class_of_folder_) {
    if (shown == kShownClasses) return text + ", ...";
    text += (shown++ > 0 ? ", " : "") + std::to_string(number) + " is '" + folder + "'";
  }
  return text;
}

std::string SampleLabels::WrongClasses(int64_t classes) const {
  const auto folders = static_cast<int64_t>(class_of_folder_.size());
  if (names_ > 0) return ClassNames::WrongCount(names_, classes);
  if (!of_images_ || folders == classes) return "";
  const std::string empty = DescribeEmptyFolders();
  return Counted(folders, "folder") + " for " + std::to_string(classes) +
         " classes of the output, so that folders would be other classes than they are: give the "
         "name of each folder in --class-names, at the line of its class, or make " +
         (folders < classes ? "an (empty) folder for every class" : "no other folder") +
         (empty.empty() ? "" : "; " + empty);
}

std::string SampleLabels::DoubtfulOrder() const {
  if (!of_images_ || names_ > 0) return "";
  if (without_names_) {
    return name_ +
           ": no folder has a name of --class-names, so that the order of the folders says which "
           "classes they are: 0 is '" +
           folders().front() +
           "'. Name the folders as --class-names has it, upper and lower case "
           "included, or leave --class-names out";
  }
  int64_t before = -1;
  std::string last;
  bool doubtful = false;
  for (const auto& [folder, place] : class_of_folder_) {
    const std::optional<int64_t> number = ParseInt(folder);
    if (!number) return "";
    if (*number < before && last.empty()) last = folder;
    doubtful |= *number < before;
    before = *number;
  }
  if (!doubtful) return "";
  return name_ +
         ": all folders are named by numbers, and sorted as text, as in torchvision's "
         "ImageFolder: '" +
         last + "' is class " + std::to_string(class_of_folder_.at(last)) +
         ". If the numbers are the classes, give them in --class-names, a line each";
}

}  // namespace vernier
