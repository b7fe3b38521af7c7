// SPDX-License-Identifier: Apache-2.0
// A harness states a property as a sentence that is true for every input; otherwise the program
// ends.
#ifndef PMUCONF_FUZZ_PROPERTY_H_
#define PMUCONF_FUZZ_PROPERTY_H_

#include <cstdio>
#include <cstdlib>

namespace pmuconf::fuzz {

[[noreturn]] inline void Violated(const char* file, int line, const char* expression,
                                  const char* claim) {
  std::fprintf(stderr, "%s:%d: property broken: %s (%s)\n", file, line, claim, expression);
  std::abort();
}

}  // namespace pmuconf::fuzz

#define PROPERTY(expression, claim)                                                       \
  do {                                                                                    \
    if (!(expression)) ::pmuconf::fuzz::Violated(__FILE__, __LINE__, #expression, claim); \
  } while (false)

#endif  // PMUCONF_FUZZ_PROPERTY_H_
