// GitHub's workflows read commands in what a step prints. Names from models must not form one.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// Is this a step of a GitHub workflow ($GITHUB_ACTIONS is "true")?
bool InGitHubWorkflow();

/// The same lines, none of which is a command any more, in neither of the forms "::error" (behind
/// blanks) and "##[error]" (anywhere). Lines end with line feeds or carriage returns.
std::string WithoutWorkflowCommands(std::string_view text);

}  // namespace vernier
