// SPDX-License-Identifier: Apache-2.0
// Dimensions of a case: the instances over which its rule speaks. The fixture runs the body of the
// case once for each combination of their values.
#ifndef PMUCONF_HARNESS_SWEEP_H_
#define PMUCONF_HARNESS_SWEEP_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "target/target.h"

namespace pmuconf {

struct DimensionValue {
  std::string name;             // "sibling"
  int number = 0;               // the enumerator
  std::vector<Cap> needs = {};  // the value is left out if one of them is absent
};

struct Dimension {
  std::string name;  // "member"
  std::vector<DimensionValue> values;
};

// One value of each dimension of a case, in the order of the dimensions.
struct ChosenValue {
  std::string dimension;
  DimensionValue value;
};
using Combination = std::vector<ChosenValue>;

// Returns "cpu=1,member=sibling", as --at accepts it.
std::string ToString(const Combination& combination);

// Products up to this size run whole. Larger ones run as a set of combinations in which each pair
// of values of two dimensions occurs.
inline constexpr std::size_t kWholeProduct = 12;

// Returns the combinations of `dimensions`, always in the same order. It has one empty combination
// if there are no dimensions, and none if a dimension has no value.
std::vector<Combination> Combinations(const std::vector<Dimension>& dimensions);

// Returns the dimensions without the values that `has` rules out.
std::vector<Dimension> Available(std::vector<Dimension> dimensions,
                                 const std::function<bool(Cap)>& has);

// Restricts the dimensions to the values that `at` names, for example "cpu=1,member=sibling". A
// dimension that `at` does not name keeps its values. Throws ConfigError if `at` is malformed or
// names an unknown dimension or value.
std::vector<Dimension> Restrict(std::vector<Dimension> dimensions, std::string_view at);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_SWEEP_H_
