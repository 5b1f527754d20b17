#include "options/bind/part_words.h"

#include <set>
#include <string_view>

namespace vernier {

void AddOptionWords(const OptionRow& row, const OptionWords& given,
                    std::vector<std::string>& words) {
  for (const std::vector<std::string>& values : given) {
    const std::string flag(row.flags[0]);
    const bool like_a_flag = values.size() == 1 && values.front().starts_with('-');
    if (like_a_flag && !row.IsPositional()) {
      words.push_back(flag + "=" + values.front());
      continue;
    }
    if (!row.IsPositional()) words.push_back(flag);
    words.insert(words.end(), values.begin(), values.end());
  }
}

void AddPartWords(const OptionTable& table, std::initializer_list<WordsSource> sources,
                  std::vector<std::string>& words) {
  std::set<std::string_view> said;
  for (const OptionRow* row : table.rows()) {
    if (row->sets.words == nullptr) continue;
    for (const WordsSource& source : sources) {
      if (source.tag != row->sets.part || !said.insert(row->dest).second) continue;
      AddOptionWords(*row, row->sets.words(*row, source.part), words);
    }
  }
}

}  // namespace vernier
