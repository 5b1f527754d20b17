#include "report/html/page.h"

#include <cstdio>
#include <span>
#include <string_view>

#include "io/bytes/checksum.h"
#include "report/html/page_assets.h"
#include "report/html/page_data.h"
#include "report/text/text_escape.h"
#include "report/text/verdict_text.h"

namespace vernier {
namespace {

// Scripts run only with this word: it depends on everything in the page, so that no name in it can
// know it.
std::string NonceOf(std::string_view data) {
  Checksum checksum;
  checksum.Add(std::as_bytes(std::span(data.data(), data.size())));
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(checksum.value()));
  return text;
}

}  // namespace

std::string FormatPage(const RunRecord& record) {
  const std::string data = MakePageData(record);
  const std::string nonce = NonceOf(data);
  const std::string sentence = XmlText(DecideVerdict(record).sentence);
  const std::string title = "vernier: " + sentence;
  struct Place {
    std::string_view name;
    std::string_view text;
  };
  const Place places[] = {
      {"title", title},
      {"sentence", sentence},
      {"nonce", nonce},
      {"style", page_assets::kStyle},
      {"d3", page_assets::kD3},
      {"data", data},
      {"script", page_assets::kScript},
  };
  // What is put in is not looked through again: data may hold "{{script}}".
  std::string page;
  std::string_view rest = page_assets::kFrame;
  while (!rest.empty()) {
    const size_t open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = rest.find("}}", open);
    const std::string_view name = rest.substr(open + 2, close - open - 2);
    for (const Place& place : places) {
      if (place.name == name) page += place.text;
    }
    rest.remove_prefix(close + 2);
  }
  return page;
}

}  // namespace vernier
