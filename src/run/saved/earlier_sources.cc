#include "run/saved/earlier_sources.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "io/results/partial_results.h"
#include "record/plan/plan_difference.h"
#include "run/parts/shard_sources.h"

namespace vernier {
namespace {

using SourceValues = std::set<std::string>;

SourceValues ValuesOf(const JournalSource& named, const std::vector<JournalSource>& all) {
  SourceValues values;
  for (const JournalSource& source : all) {
    if (source.kind == named.kind && source.name == named.name) values.insert(source.value);
  }
  return values;
}

// Its file may be another by now, though it is not imported (yet).
bool HasOtherFile(const JournalSource& module) {
  std::error_code ignored;
  if (module.path.empty() || !std::filesystem::is_regular_file(module.path, ignored)) return false;
  return !module.hash.empty() && HashOfSource(module.path) != module.hash;
}

std::string DescribeOther(const JournalSource& source, const SourceValues& now) {
  if (source.kind == "module") {
    const std::string path = source.path.empty() ? "" : " ('" + source.path + "')";
    return "the Python module '" + source.name + "'" + path +
           ", which a script of its runners had imported, has other content now";
  }
  if (source.kind == "settings") {
    const auto found = FindPlanDifference(source.value, *now.begin());
    const auto shown = [](const std::string& value) { return value.empty() ? "not given" : value; };
    if (!found.ok() || !*found) return "its runners had other settings";
    return "setting '" + (*found)->setting + "' was " + shown((*found)->first) + " there, and is " +
           shown((*found)->second) + " now";
  }
  const std::string name = source.kind == "processor" ? "the processor"
                           : source.kind == "runner"  ? "runner '" + source.name + "'"
                                                      : "the Python package '" + source.name + "'";
  return name + " was " + source.value + " there, and is " + *now.begin() + " now";
}

}  // namespace

SourceDifference FindOtherSource(const std::vector<JournalSource>& there,
                                 const std::vector<JournalSource>& now) {
  for (const JournalSource& source : there) {
    const SourceValues own = ValuesOf(source, there), others = ValuesOf(source, now);
    if (others.contains(source.value)) continue;
    const bool differs =
        others.empty() ? HasOtherFile(source) : !std::ranges::includes(own, others);
    const bool always = source.kind == "module" || source.kind == "settings";
    if (differs) return {DescribeOther(source, others), always};
  }
  return {};
}

void EarlierSources::Read(const std::string& parts) { Add(ReadPartialSources(parts)); }

void EarlierSources::Add(std::vector<JournalSource> sources) {
  std::ranges::move(sources, std::back_inserter(all_));
}

std::string EarlierSources::WhyNot(const std::vector<JournalSource>& now, bool of_shard,
                                   Logger& logger) {
  const auto [what, always] = FindOtherSource(all_, now);
  if (what.empty() || of_shard || always) return what;
  if (what != warned_) logger.Warning("--resume: results differ in what computed them: " + what);
  warned_ = what;
  return "";
}

std::string KnownSources::AddLines(const std::vector<JournalSource>& sources) {
  std::string lines;
  for (JournalSource source : sources) {
    std::string hash = std::exchange(source.hash, {});
    if (!known_.insert(source).second) continue;
    source.hash =
        source.path.empty() || !hash.empty() ? std::move(hash) : HashOfSource(source.path);
    lines += FormatJournalSource(source);
  }
  return lines;
}

}  // namespace vernier
