// SPDX-License-Identifier: Apache-2.0
// Functions that probes in user space watch.
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include "stimulus/stimuli.h"
#include "system/broken.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

using Function = void (*)();

// The functions differ, so that the compiler and the linker do not merge them.
template <int kNumber>
[[gnu::noinline]] void Called() {
  asm volatile("" ::"i"(kNumber) : "memory");
  static volatile int last = kNumber;
  last = last + kNumber;
}

constexpr std::array<Function, kFunctions> kCalled = {Called<0>, Called<1>, Called<2>, Called<3>};

}  // namespace

std::uint64_t OffsetOfFunction(std::uint64_t number) {
  const auto address = reinterpret_cast<std::uint64_t>(kCalled.at(number));
  std::istringstream maps(ReadFile("/proc/self/maps").value_or(""));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uint64_t begin = 0, end = 0, offset = 0, inode = 0;
    char dash = 0;
    std::string mode, device;
    fields >> std::hex >> begin >> dash >> end >> mode >> offset >> device >> std::dec >> inode;
    const bool here = fields && begin <= address && address < end;
    if (here && inode != 0) return address - begin + offset;
  }
  throw Broken("/proc/self/maps has no file for a function of this program");
}

}  // namespace pmuconf
