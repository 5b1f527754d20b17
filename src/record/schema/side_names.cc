#include "record/schema/side_names.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/schema/runner_name.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

struct NamedSide {
  std::string name, file;  // as the record has them
  std::string shown;

  bool timed() const { return WithoutTime(name) != name; }
};

// "onnxrt" of "onnxrt-runner-N0".
std::string StemOf(std::string_view plain) {
  constexpr std::string_view kRunner = "-runner";
  plain = plain.substr(0, plain.rfind("-N"));
  if (plain.ends_with(kRunner)) plain.remove_suffix(kRunner.size());
  return std::string(plain);
}

class SideNames {
 public:
  SideNames(const RunRecord& record, NameStyle style) {
    for (const RunnerRecord& runner : record.runners) Add(runner.name, "");
    for (const PairRecord& pair : record.pairs) {
      Add(pair.first, pair.first_file);
      Add(pair.second, pair.second_file);
    }
    if (record.profile) {
      for (const ProfileRunner& runner : record.profile->runners) Add(runner.name, "");
      for (const ProfilePoint& point : record.profile->points) Add(point.runner, "");
    }
    if (record.blame) {
      for (const std::string& name : {record.blame->reference, record.blame->candidate}) {
        if (std::ranges::find(sides_, name, &NamedSide::name) == sides_.end()) Add(name, "");
      }
    }
    NameFiles();
    NumberTheRest();
    if (style == NameStyle::kShort) Shorten();
  }

  std::string Of(const std::string& name, const std::string& file) const {
    const auto at = Find(name, file);
    return at == sides_.end() ? name : at->shown;
  }

  // Of a side whose file is not known.
  std::string OfName(const std::string& name) const {
    const auto at = std::ranges::find(sides_, name, &NamedSide::name);
    return at == sides_.end() ? name : at->shown;
  }

  // `text` with the names of the runners that it names.
  std::string In(std::string text) const {
    for (const NamedSide& side : sides_) {
      if (!side.timed() || side.shown == side.name) continue;
      for (size_t at = text.find(side.name); at != std::string::npos;
           at = text.find(side.name, at)) {
        text.replace(at, side.name.size(), side.shown);
        at += side.shown.size();
      }
    }
    return text;
  }

 private:
  std::vector<NamedSide>::const_iterator Find(const std::string& name,
                                              const std::string& file) const {
    return std::ranges::find_if(
        sides_, [&](const NamedSide& side) { return side.name == name && side.file == file; });
  }

  void Add(const std::string& name, const std::string& file) {
    if (Find(name, file) != sides_.end()) return;
    NamedSide side{name, file, WithoutTime(name)};
    if (side.timed() && !file.empty()) side.shown = file;
    sides_.push_back(std::move(side));
  }

  size_t CountShown(const std::string& text) const {
    return static_cast<size_t>(
        std::ranges::count_if(sides_, [&](const NamedSide& side) { return side.shown == text; }));
  }

  void NameFiles() {
    std::vector<NamedSide*> shared;
    for (NamedSide& side : sides_) {
      const bool by_name = !side.file.empty() && side.shown != side.file;
      if (by_name && CountShown(side.shown) > 1) shared.push_back(&side);
    }
    for (NamedSide* side : shared) side->shown += " (" + side->file + ")";
  }

  // Saved outputs of earlier runs, in records without files.
  void NumberTheRest() {
    std::set<std::string> taken;
    for (NamedSide& side : sides_) {
      const std::string plain = side.shown;
      for (int count = 2; !taken.insert(side.shown).second; ++count) {
        side.shown = plain + " (" + std::to_string(count) + ")";
      }
    }
  }

  void Shorten() {
    const std::vector<NamedSide> all = sides_;
    for (NamedSide& side : sides_) {
      if (!side.timed() || side.shown != WithoutTime(side.name)) continue;
      const std::string stem = StemOf(side.shown);
      const bool unique = std::ranges::none_of(all, [&](const NamedSide& other) {
        const bool itself = other.name == side.name && other.file == side.file;
        // What is shown by its file has no stem that could be mistaken.
        const bool by_name = other.timed() && other.shown != other.file;
        return !itself &&
               (other.shown == stem || (by_name && StemOf(WithoutTime(other.name)) == stem));
      });
      if (unique && !stem.empty()) side.shown = stem;
    }
  }

  std::vector<NamedSide> sides_;
};

void Rename(const SideNames& names, BlameRecord& blame) {
  const auto in = [&](std::string& text) { text = names.In(std::move(text)); };
  blame.reference = names.OfName(blame.reference);
  blame.candidate = names.OfName(blame.candidate);
  for (RunnerRecord& runner : blame.runners) runner.name = names.OfName(runner.name);
  for (BlameCulprit& culprit : blame.culprits) in(culprit.why);
  for (UnexposedTensor& tensor : blame.unexposed) in(tensor.why);
  for (BlameLayerRecord& layer : blame.layers) in(layer.own_missing);
  for (std::string& note : blame.notes) in(note);
  for (std::string* text : {&blame.disturbance.finding, &blame.within_bounds, &blame.error}) {
    in(*text);
  }
}

}  // namespace

RunRecord WithSideNames(RunRecord record, NameStyle style) {
  const SideNames names(record, style);
  for (RunnerRecord& runner : record.runners) {
    runner.name = names.Of(runner.name, "");
    runner.failure = names.In(std::move(runner.failure));
    for (auto& [output, why] : runner.skipped_outputs) why = names.In(std::move(why));
  }
  for (PairRecord& pair : record.pairs) {
    pair.first = names.Of(pair.first, pair.first_file);
    pair.second = names.Of(pair.second, pair.second_file);
  }
  if (record.profile) {
    for (ProfileRunner& runner : record.profile->runners) runner.name = names.Of(runner.name, "");
    for (ProfilePoint& point : record.profile->points) {
      point.runner = names.Of(point.runner, "");
      point.accuracy.why = names.In(std::move(point.accuracy.why));
    }
  }
  for (std::vector<std::string>* lines : {&record.notes, &record.faults, &record.rejections}) {
    for (std::string& line : *lines) line = names.In(std::move(line));
  }
  record.error = names.In(std::move(record.error));
  if (record.blame) {
    BlameRecord blame = *record.blame;
    Rename(names, blame);
    record.blame = std::make_shared<const BlameRecord>(std::move(blame));
  }
  return record;
}

BlameRecord WithSideNames(BlameRecord blame, NameStyle style) {
  RunRecord sides;
  for (const std::string& name : {blame.reference, blame.candidate}) {
    sides.runners.emplace_back().name = name;
  }
  Rename(SideNames(sides, style), blame);
  return blame;
}

std::vector<std::string> ShortNames(std::span<const std::string> names) {
  RunRecord record;
  for (const std::string& name : names) record.runners.emplace_back().name = name;
  const SideNames shown(record, NameStyle::kShort);
  std::vector<std::string> short_names;
  for (const std::string& name : names) short_names.push_back(shown.Of(name, ""));
  return short_names;
}

}  // namespace vernier
