// SPDX-License-Identifier: Apache-2.0
// Finds variables by the types of the object (BTF).
#include "lies/bpf_memory.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace pmuconf {
namespace {

// The size of one element if the type is an array, otherwise of the whole variable.
unsigned ElementSize(const btf* types, std::uint32_t type) {
  while (true) {
    const btf_type* const info = btf__type_by_id(types, type);
    if (btf_is_array(info)) {
      type = btf_array(info)->type;
    } else if (btf_is_mod(info) || btf_is_typedef(info)) {
      type = info->type;
    } else {
      return static_cast<unsigned>(btf__resolve_size(types, type));
    }
  }
}

void LieAboutVariable(Liar* liar, std::byte* at, std::size_t size, unsigned element) {
  static std::map<const std::byte*, std::uint64_t> told;
  if (element == 0 || element > 8) element = 8;
  for (std::size_t i = 0; (i + 1) * element <= size; ++i) {
    std::byte* const value = at + i * element;
    Slots slots;
    slots.AddFact("index", i);
    slots.AddBytes("value", value, element);
    const auto it = told.find(value);
    if (it != told.end() && it->second == slots.Find("value")->Get()) continue;
    if (!liar->Applies(slots)) continue;
    liar->ChangeAnswer(&slots);
    told[value] = slots.Find("value")->Get();
  }
}

}  // namespace

void LieAboutBpfMemory(Liar* liar, bpf_object* object) {
  const btf* const types = bpf_object__btf(object);
  bpf_map* map = nullptr;
  while (types != nullptr && (map = bpf_object__next_map(object, map)) != nullptr) {
    std::size_t size = 0;
    auto* const memory =
        static_cast<std::byte*>(const_cast<void*>(bpf_map__initial_value(map, &size)));
    const std::string name = bpf_map__name(map);
    const std::size_t dot = name.find('.');
    if (memory == nullptr || dot == std::string::npos || name.substr(dot) == ".rodata") continue;
    const int section = btf__find_by_name_kind(types, name.substr(dot).c_str(), BTF_KIND_DATASEC);
    if (section < 0) continue;
    const btf_type* const info = btf__type_by_id(types, static_cast<std::uint32_t>(section));
    const btf_var_secinfo* const variables = btf_var_secinfos(info);
    for (unsigned i = 0; i < btf_vlen(info); ++i) {
      const btf_type* const variable = btf__type_by_id(types, variables[i].type);
      if (!MatchesPath(liar->lie().path, btf__name_by_offset(types, variable->name_off))) continue;
      if (variables[i].offset + variables[i].size > size) continue;
      LieAboutVariable(liar, memory + variables[i].offset, variables[i].size,
                       ElementSize(types, variable->type));
    }
  }
}

}  // namespace pmuconf
