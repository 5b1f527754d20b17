#include "options/bind/bind_model.h"

#include "options/table/command_words.h"

namespace vernier {

Result<ModelPlan> BindModel(const ParsedArgs& args) {
  ModelPlan model;
  VERNIER_TRY(BindOptions(args, {}, {model}));
  const MarkWords marks = ReadWords<MarkWords>(args);
  if (marks.all || marks.keeps_all) model.outputs = {"*"};
  if (marks.kept) model.outputs = marks.kept->empty() ? std::vector<std::string>{"*"} : *marks.kept;
  model.exclude_outputs.insert(model.exclude_outputs.end(), marks.excluded.begin(),
                               marks.excluded.end());
  return model;
}

}  // namespace vernier
