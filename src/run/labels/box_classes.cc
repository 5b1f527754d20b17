// Which category of COCO's labels a class of a network is.
#include <set>
#include <string>
#include <utility>

#include "run/labels/labelled_boxes.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// "3 categories for 2 classes".
std::string CategoriesFor(size_t known, int64_t classes) {
  return Counted(known, "category", "categories") + " for " + Counted(classes, "class", "classes");
}

// "'car' (id 3)".
std::string NameOf(const CocoCategory& category) {
  return QuotePython(category.name) + " (id " + std::to_string(category.id) + ")";
}

// Ids of categories that an image has, or, where none has any, of all.
std::set<int64_t> IdsInUse(const CocoLabels& coco) {
  std::set<int64_t> used;
  for (const CocoImage& image : coco.images) {
    for (const LabelledBox& box : image.boxes) used.insert(box.category);
  }
  if (!used.empty()) return used;
  for (const CocoCategory& category : coco.categories) used.insert(category.id);
  return used;
}

}  // namespace

// What no image has need not have a name, as `background`.
Status BoxLabels::NameClasses(const ClassNames& names) {
  if (names.empty() || coco_.categories.empty()) return {};
  const std::set<int64_t> used = IdsInUse(coco_);
  std::vector<std::optional<int64_t>> named(names.size());
  std::string lacking;
  bool any = false;
  for (const CocoCategory& category : coco_.categories) {
    const std::optional<int64_t> index = names.ClassOf(category.name);
    const bool fits = index && !named[static_cast<size_t>(*index)];
    any |= fits;
    if (fits) named[static_cast<size_t>(*index)] = category.id;
    if (!fits && lacking.empty() && used.contains(category.id)) lacking = NameOf(category);
  }
  without_names_ = !any;
  if (!any) return {};
  if (!lacking.empty()) {
    return Malformed(name_ + ": category " + lacking +
                     " has no line of its own in --class-names, and others have: give its class "
                     "that name");
  }
  named_ = std::move(named);
  return {};
}

std::string BoxLabels::WithoutNames() const {
  if (!without_names_) return "";
  return name_ +
         ": no category has a name of --class-names, so that the order of the ids says which "
         "classes they are: 0 is " +
         NameOf(coco_.categories.front()) +
         ". Give --class-names the names of the categories, upper and lower case included, or "
         "leave it out";
}

std::string BoxLabels::NeverTheLast(int64_t last_class) const {
  const auto known = static_cast<int64_t>(coco_.categories.size());
  if (by_name() || last_class < 0 || last_class + 1 >= known) return "";
  return "no box of either side is of a class beyond " + std::to_string(last_class) + ", and " +
         name_ + " has " + CategoriesFor(coco_.categories.size(), last_class + 1) +
         ": class 0 is taken as the category with the lowest id, and so on, which is wrong where "
         "the network does not have one of them, as 'background'; name its classes with "
         "--class-names, in which categories are then found by their names";
}

Result<std::optional<int64_t>> BoxLabels::CategoryOf(int64_t index) const {
  const size_t known = by_name() ? named_.size() : coco_.categories.size();
  if (index < 0 || static_cast<size_t>(index) >= known) {
    return InvalidArgument("class " + std::to_string(index) + " is beyond the " +
                           (by_name() ? "names of --class-names" : "categories of " + name_) +
                           ", which are " + std::to_string(known));
  }
  const auto at = static_cast<size_t>(index);
  return by_name() ? named_[at] : std::optional(coco_.categories[at].id);
}

std::string BoxLabels::OtherClasses(int64_t classes) const {
  const size_t known = coco_.categories.size();
  if (by_name()) {
    const std::string wrong = ClassNames::WrongCount(named_.size(), classes);
    return wrong.empty() ? "" : name_ + ": " + wrong;
  }
  if (known <= static_cast<size_t>(classes)) return "";
  return name_ + " has " + CategoriesFor(known, classes) +
         " of the output, and one too many with a low id shifts all others: take the categories "
         "out that the network does not have, or name its classes with --class-names";
}

std::string BoxLabels::TooFew(int64_t classes) const {
  const size_t known = coco_.categories.size();
  if (by_name() || known >= static_cast<size_t>(classes)) return "";
  return name_ + " has " + CategoriesFor(known, classes) +
         " of the output: class 0 is taken as the category with the lowest id, and so on, which is "
         "wrong where one before the last is left out; name the classes with --class-names, in "
         "which categories are then found by their names";
}

}  // namespace vernier
