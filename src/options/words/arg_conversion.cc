#include "options/words/arg_conversion.h"

#include <cstddef>

#include "util/text/number_text.h"

namespace vernier {

bool IsPythonInt(std::string_view text) {
  constexpr size_t kMostDigits = 4300;  // Python's guard against quadratic conversions
  text = Trim(text);
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  size_t digits = 0;
  bool after_digit = false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c == '_' && after_digit)) return false;
    digits += is_digit ? 1 : 0;
    after_digit = is_digit;
  }
  return after_digit && digits <= kMostDigits;
}

}  // namespace vernier
