// The graph of the model that a run used.
#pragma once

#include <string>
#include <vector>

namespace vernier {

struct NodeRecord {
  std::string name;  ///< may be empty, or the name of other nodes too
  std::string op_type;
  std::vector<std::string> inputs;  ///< of those that are no weights
  std::vector<std::string> outputs;
};

struct GraphRecord {
  std::string model;                ///< the path as it was given
  std::vector<std::string> inputs;  ///< of the whole graph
  std::vector<std::string> outputs;
  std::vector<NodeRecord> nodes;  ///< each after those it reads from
};

}  // namespace vernier
