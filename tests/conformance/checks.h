// The rules that every backend keeps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend_under_test.h"
#include "expectations.h"

namespace vernier {

/// ok: the rule holds. kUnimplemented: the backend declines. Anything else: it breaks the rule.
struct Check {
  std::string name;
  std::function<Status(BackendUnderTest&)> run;
};

void AddSessionChecks(std::vector<Check>& checks);
void AddDTypeChecks(std::vector<Check>& checks);
void AddShapeChecks(std::vector<Check>& checks);
void AddErrorChecks(const Expectations& expectations, std::vector<Check>& checks);

}  // namespace vernier
