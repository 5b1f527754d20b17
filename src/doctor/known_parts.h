// What vernier can use, what for, and which package has it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vernier {

struct KnownPart {
  std::string_view name;     ///< of the backend, without a major version; or of the Python package
  std::string_view enables;  ///< what works with it
  std::string_view
      package;  ///< what pip installs; empty: nothing is needed, and it is no framework
  std::string_view shown = {};  ///< its name in the list; empty: `name`
  /// The set of scripts/deps.sh whose headers its plug-in is built with; empty: scripts/setup.sh.
  std::string_view deps_set = {};
};

/// The backends, whether this build has their plug-ins or not.
std::span<const KnownPart> KnownBackends();

/// The Python packages that scripts, runners in Python and some commands import.
std::span<const KnownPart> KnownPackages();

/// The row whose name is `name`, or `name` without its major version ("tensorrt_10"); or nullptr.
const KnownPart* FindPart(std::span<const KnownPart> parts, std::string_view name);

/// The interpreter as `doctor` found it.
struct PythonPlace {
  std::string path;      ///< empty: there is none
  bool managed = false;  ///< by the distribution: pip refuses to install into it
};

/// Which version of a package: pip keeps one that is there unless the newest is asked for.
enum class Wanted : uint8_t { kAny, kNewest };

/// One command line that installs a package where it is looked for.
std::string PipCommand(const PythonPlace& python, std::string_view package,
                       Wanted wanted = Wanted::kAny);

}  // namespace vernier
