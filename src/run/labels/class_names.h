// The names of a network's classes (`--class-names`), for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"
#include "vernier/status.h"

namespace vernier {

class ClassNames {
 public:
  /// A line of text a class, that of class 0 first; empty lines at the end do not count.
  /// kMalformed, naming the file, where it cannot be read, holds no name, or has an empty line
  /// between others.
  static Result<ClassNames> Load(const std::string& path);

  bool empty() const { return names_.empty(); }
  size_t size() const { return names_.size(); }
  /// Why an output of that many classes is not what they name, in a clause; empty: it may be.
  static std::string WrongCount(size_t names, int64_t classes);
  /// Whether an output of so many classes, about which `decision` decides, has these names: one for
  /// each class, but for a blank that is the last of ctc. nullopt: there are no names, their number
  /// is not known, or the two classes are the yes and no of a threshold's single value.
  std::optional<bool> AreOf(const DecisionPlan& decision, std::optional<int64_t> classes) const;
  /// That they are not the names of these classes, in a sentence. `path` is their file, and `name`
  /// what is called by numbers then.
  std::string WhyNotOf(const std::string& path, int64_t classes, const std::string& name) const;
  /// Gives the classes of a map their names.
  void Name(std::vector<ClassIouRecord>& classes) const;
  /// How many classes have that name.
  size_t CountOf(std::string_view name) const;
  /// The class of that name; nullopt: none has it, or several have.
  std::optional<int64_t> ClassOf(std::string_view name) const;

  /// What a side decided, DecisionSample::first, in words: "281 7" as "tabby (281), cock (7)", of a
  /// map "281:64 7:9" as "tabby (281): 64, cock (7): 9". Of ctc, whose classes are symbols, their
  /// names one after the other. Numbers without a name stay, and so do texts of kinds that decide
  /// no classes.
  std::string InWords(DecisionKind kind, const std::string& decision) const;

 private:
  std::string Spelled(const std::string& decision) const;
  std::string NameOf(std::string_view number) const;

  std::vector<std::string> names_;
};

}  // namespace vernier
