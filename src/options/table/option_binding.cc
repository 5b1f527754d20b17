#include "options/table/option_binding.h"

#include <algorithm>

#include "options/table/parsed_args.h"

namespace vernier {

Status BindOptions(const ParsedArgs& args, const BindContext& context,
                   std::initializer_list<BindTarget> targets) {
  for (const GivenOption& given : args.given()) {
    const Binding& binding = given.row->sets;
    if (binding.set == nullptr) continue;
    const OptionAction action = given.row->action;
    const bool adds_up = action == OptionAction::kAppend || action == OptionAction::kCount;
    if (!adds_up && !args.IsLast(given)) continue;
    for (const BindTarget& target : targets) {
      if (target.tag == binding.part) VERNIER_TRY(binding.set({given, context}, target.part));
    }
  }
  return {};
}

}  // namespace vernier
