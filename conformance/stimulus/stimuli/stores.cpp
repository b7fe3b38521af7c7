// SPDX-License-Identifier: Apache-2.0
// Stores to variables, which data breakpoints watch.
#include <array>

#include "stimulus/stimuli.h"

namespace pmuconf {
namespace {

// A breakpoint covers an aligned double word.
std::array<volatile std::uint64_t, kVariables>& Variables() {
  alignas(64) static std::array<volatile std::uint64_t, kVariables> the_variables = {};
  return the_variables;
}

}  // namespace

const volatile std::uint64_t* AddressOfVariable(std::uint64_t number) {
  return &Variables().at(number);
}

void StoreTo(std::uint64_t number, std::uint64_t n) {
  volatile std::uint64_t& variable = Variables().at(number);
  for (std::uint64_t i = 0; i < n; ++i) variable = i;
}

}  // namespace pmuconf
