// SPDX-License-Identifier: Apache-2.0
// The effect of a read(2) of an event on the memory of its buffer.
#ifndef PMUCONF_CASES_RAW_READ_H_
#define PMUCONF_CASES_RAW_READ_H_

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace pmuconf {

// Reads up to `size` bytes into a buffer that was filled with 0xa5.
struct RawRead {
  RawRead(int fd, std::size_t size) {
    bytes.fill(0xa5);
    result = ::read(fd, bytes.data(), size);
    error = result < 0 ? errno : 0;
  }
  bool UntouchedFrom(std::size_t offset) const {
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.end(),
                       [](unsigned char byte) { return byte == 0xa5; });
  }
  std::array<unsigned char, 512> bytes;
  ssize_t result = 0;
  int error = 0;
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_RAW_READ_H_
