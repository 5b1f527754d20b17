// What a Python script imports from its own folder: shards that have run other code do not merge.
#pragma once

#include <string>
#include <vector>

namespace vernier {

/// The files of modules that the script names in its import statements, and that lie beside it, and
/// of those that these import, sorted. Of a package, a folder, all of its .py files. Modules that
/// are found elsewhere (site-packages, PYTHONPATH) or imported by other means are not among them.
std::vector<std::string> FindImportedModules(const std::string& script);

}  // namespace vernier
