// SPDX-License-Identifier: Apache-2.0
// Measures the cost of libFuzzer and the sanitizers alone: fuzz.run runs it together with each
// harness, on the same type of inputs.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return size > 0 && bytes == nullptr ? -1 : 0;
}
