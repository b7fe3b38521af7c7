// SPDX-License-Identifier: Apache-2.0
// Reads words from the front of untrusted bytes.
#ifndef PMUCONF_TEXT_BYTE_READER_H_
#define PMUCONF_TEXT_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace pmuconf {

// After the first read beyond the end, all values are 0 and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T Read() {
    T value = {};
    if (!Fits(sizeof(T))) return value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  std::uint64_t U64() { return Read<std::uint64_t>(); }
  std::uint32_t U32() { return Read<std::uint32_t>(); }

  template <typename T>
  std::vector<T> ReadMany(std::uint64_t n) {
    std::vector<T> values;
    if (n > rest_.size() / sizeof(T)) ok_ = false;
    if (!ok_ || n == 0) return values;
    values.resize(n);
    std::memcpy(values.data(), rest_.data(), n * sizeof(T));
    rest_ = rest_.subspan(n * sizeof(T));
    return values;
  }
  std::span<const std::byte> Bytes(std::uint64_t n) {
    if (!Fits(n)) return {};
    const auto bytes = rest_.first(n);
    rest_ = rest_.subspan(n);
    return bytes;
  }

  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  std::size_t remaining() const { return rest_.size(); }

 private:
  bool Fits(std::uint64_t n) {
    ok_ = ok_ && n <= rest_.size();
    return ok_;
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace pmuconf

#endif  // PMUCONF_TEXT_BYTE_READER_H_
