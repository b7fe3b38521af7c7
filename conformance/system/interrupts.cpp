// SPDX-License-Identifier: Apache-2.0
#include "system/interrupts.h"

#include <sstream>

#include "system/sysfs.h"

namespace pmuconf {

std::uint64_t InterruptsIn(const std::string& text, int cpu) {
  std::istringstream lines(text);
  std::string line, word;
  std::getline(lines, line);
  std::istringstream header(line);
  const std::string name = "CPU" + std::to_string(cpu);
  std::size_t own = 0;
  while (header >> word && word != name) ++own;
  if (word != name) return 0;
  std::uint64_t sum = 0;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    fields >> word;  // the number or the name of the interrupt
    std::uint64_t number = 0;
    for (std::size_t i = 0; fields >> number; ++i) {
      if (i != own) continue;
      sum += number;
      break;
    }
  }
  return sum;
}

std::uint64_t InterruptsOf(int cpu) {
  return InterruptsIn(ReadFile("/proc/interrupts").value_or(""), cpu);
}

}  // namespace pmuconf
