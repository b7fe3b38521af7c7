// SPDX-License-Identifier: Apache-2.0
// What libFuzzer and the sanitizers cost by themselves: fuzz/run.py runs it beside each harness,
// on inputs of the same kind.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return size > 0 && bytes == nullptr ? -1 : 0;
}
