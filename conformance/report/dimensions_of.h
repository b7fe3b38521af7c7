// SPDX-License-Identifier: Apache-2.0
// The dimensions of a case: what it repeats its claim over.
#ifndef PMUCONF_REPORT_DIMENSIONS_OF_H_
#define PMUCONF_REPORT_DIMENSIONS_OF_H_

#include <string>
#include <vector>

namespace pmuconf {

// Returns "member: alone, last" for each dimension in `meta.over`. Nothing if the metadata of
// cases has no such field.
template <typename Meta>
std::vector<std::string> DimensionsOf(const Meta& meta) {
  std::vector<std::string> texts;
  if constexpr (requires { meta.over; }) {
    for (const auto& dimension : meta.over) {
      std::string names;
      for (const auto& value : dimension.values) {
        names.append(names.empty() ? "" : ", ").append(value.name);
      }
      texts.push_back(std::string(dimension.name).append(": ").append(names));
    }
  }
  return texts;
}

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_DIMENSIONS_OF_H_
