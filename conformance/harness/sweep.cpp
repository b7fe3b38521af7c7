// SPDX-License-Identifier: Apache-2.0
// Products of dimensions, and sets of combinations that cover all pairs.
#include "harness/sweep.h"

#include <algorithm>
#include <utility>

namespace pmuconf {
namespace {

using Indices = std::vector<std::size_t>;  // the index of the value of each dimension

Combination ToCombination(const std::vector<Dimension>& dimensions, const Indices& indices) {
  Combination combination;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    combination.push_back({dimensions[d].name, dimensions[d].values[indices[d]]});
  }
  return combination;
}

// Returns all combinations. The last dimension changes fastest.
std::vector<Indices> Product(const std::vector<Dimension>& dimensions) {
  std::vector<Indices> product = {{}};
  for (const Dimension& dimension : dimensions) {
    std::vector<Indices> longer;
    for (const Indices& indices : product) {
      for (std::size_t value = 0; value < dimension.values.size(); ++value) {
        longer.push_back(indices);
        longer.back().push_back(value);
      }
    }
    product = std::move(longer);
  }
  return product;
}

// Returns a number for each pair of values of two dimensions that the combination has. Different
// pairs have different numbers, below `values` squared times the number of dimensions squared.
std::vector<std::size_t> PairsOf(const Indices& indices, std::size_t values) {
  std::vector<std::size_t> pairs;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    for (std::size_t j = i + 1; j < indices.size(); ++j) {
      const std::size_t dimensions = i * indices.size() + j;
      pairs.push_back((dimensions * values + indices[i]) * values + indices[j]);
    }
  }
  return pairs;
}

// Chooses the combination with the most pairs that are not covered yet, until all are covered.
std::vector<Indices> AllPairs(const std::vector<Dimension>& dimensions,
                              const std::vector<Indices>& product) {
  std::size_t values = 0;
  for (const Dimension& dimension : dimensions) values = std::max(values, dimension.values.size());
  std::vector<std::vector<std::size_t>> pairs;
  for (const Indices& indices : product) pairs.push_back(PairsOf(indices, values));
  std::vector<bool> covered(values * values * dimensions.size() * dimensions.size());
  const auto gain = [&covered](const std::vector<std::size_t>& some) {
    return std::ranges::count_if(some, [&covered](std::size_t pair) { return !covered[pair]; });
  };
  std::vector<Indices> chosen;
  while (true) {
    const auto best = std::ranges::max_element(pairs, {}, gain);  // the first of equal ones
    if (gain(*best) == 0) return chosen;
    for (const std::size_t pair : *best) covered[pair] = true;
    chosen.push_back(product[static_cast<std::size_t>(best - pairs.begin())]);
  }
}

std::string NamesOf(const std::vector<Dimension>& dimensions) {
  std::string names;
  for (const Dimension& dimension : dimensions) {
    names += (names.empty() ? "" : ", ") + dimension.name;
  }
  return names;
}

std::string NamesOf(const std::vector<DimensionValue>& values) {
  std::string names;
  for (const DimensionValue& value : values) names += (names.empty() ? "" : ", ") + value.name;
  return names;
}

// Keeps the value of one "dimension=value".
void RestrictOne(std::vector<Dimension>* dimensions, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    throw ConfigError("--at: '" + std::string(word) + "' is not DIMENSION=VALUE");
  }
  const std::string_view name = word.substr(0, equals);
  const std::string_view wanted = word.substr(equals + 1);
  const auto dimension = std::ranges::find(*dimensions, name, &Dimension::name);
  if (dimension == dimensions->end()) {
    throw ConfigError("--at: the case has no dimension '" + std::string(name) +
                      "', only: " + (dimensions->empty() ? "none" : NamesOf(*dimensions)));
  }
  const auto value = std::ranges::find(dimension->values, wanted, &DimensionValue::name);
  if (value == dimension->values.end()) {
    throw ConfigError("--at: " + dimension->name + " has no value '" + std::string(wanted) +
                      "', only: " + NamesOf(dimension->values));
  }
  dimension->values = {*value};
}

}  // namespace

std::string ToString(const Combination& combination) {
  std::string text;
  for (const ChosenValue& chosen : combination) {
    text += (text.empty() ? "" : ",") + chosen.dimension + "=" + chosen.value.name;
  }
  return text;
}

std::vector<Combination> Combinations(const std::vector<Dimension>& dimensions) {
  std::vector<Indices> chosen = Product(dimensions);
  if (chosen.size() > kWholeProduct) chosen = AllPairs(dimensions, chosen);
  std::vector<Combination> combinations;
  for (const Indices& indices : chosen) combinations.push_back(ToCombination(dimensions, indices));
  return combinations;
}

std::vector<Dimension> Available(std::vector<Dimension> dimensions,
                                 const std::function<bool(Cap)>& has) {
  for (Dimension& dimension : dimensions) {
    std::erase_if(dimension.values, [&has](const DimensionValue& value) {
      return !std::ranges::all_of(value.needs, has);
    });
  }
  return dimensions;
}

std::vector<Dimension> Restrict(std::vector<Dimension> dimensions, std::string_view at) {
  while (!at.empty()) {
    const std::size_t comma = std::min(at.find(','), at.size());
    RestrictOne(&dimensions, at.substr(0, comma));
    at.remove_prefix(std::min(comma + 1, at.size()));
  }
  return dimensions;
}

}  // namespace pmuconf
