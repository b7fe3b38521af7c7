// SPDX-License-Identifier: Apache-2.0
// Truncates JSON lines.
#include "text/json_line.h"

#include <nlohmann/json.hpp>

namespace pmuconf {
namespace {

using Json = nlohmann::json;

constexpr const char* kMarker = " [cut]";

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void FindLongest(Json* json, std::string** longest) {
  if (json->is_string()) {
    auto* const text = json->get_ptr<std::string*>();
    if (*longest == nullptr || text->size() > (*longest)->size()) *longest = text;
  } else if (json->is_structured()) {
    for (Json& child : *json) FindLongest(&child, longest);
  }
}

// Does not cut inside a UTF-8 character.
void Halve(std::string* text) {
  std::size_t n = text->size() / 2;
  while (n > 0 && (static_cast<unsigned char>((*text)[n]) & 0xc0) == 0x80) --n;
  text->resize(n);
  *text += kMarker;
}

}  // namespace

std::string JsonLine(Json object) {
  std::string line = Dump(object);
  while (line.size() > kLineLimit) {
    std::string* longest = nullptr;
    FindLongest(&object, &longest);
    if (longest == nullptr || longest->size() < 64)
      return Dump({{"t", "error"}, {"message", "a line is too long"}});
    Halve(longest);
    line = Dump(object);
  }
  return line;
}

}  // namespace pmuconf
