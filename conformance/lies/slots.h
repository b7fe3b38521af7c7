// SPDX-License-Identifier: Apache-2.0
// Named fields of a call or record: the numbers that a lie compares and changes.
#ifndef PMUCONF_LIES_SLOTS_H_
#define PMUCONF_LIES_SLOTS_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

// A number in memory. A bit field has a `width` of less than its bytes.
struct Slot {
  std::string name;
  std::byte* at = nullptr;
  unsigned bytes = 8;
  unsigned shift = 0;
  unsigned width = 64;  // in bits

  std::uint64_t Get() const;
  void Set(std::uint64_t value);  // stores its low bits
  std::uint64_t Mask() const;     // the bits that the slot can store
};

// The slots of one call. Names may occur more than once: each entry of a group has a "value".
class Slots {
 public:
  // Adds a number that the caller stores.
  template <typename T>
  void Add(std::string name, T* at) {
    slots_.push_back({std::move(name), reinterpret_cast<std::byte*>(at), sizeof(T), 0,
                      8 * static_cast<unsigned>(sizeof(T))});
  }
  void AddBytes(std::string name, std::byte* at, unsigned bytes) {
    slots_.push_back({std::move(name), at, bytes, 0, 8 * bytes});
  }
  void AddBits(std::string name, std::byte* at, unsigned bytes, unsigned shift, unsigned width) {
    slots_.push_back({std::move(name), at, bytes, shift, width});
  }
  // Adds a number that this object stores. A change of it has no effect.
  void AddFact(std::string name, std::uint64_t value) {
    Add(std::move(name), &facts_.emplace_back(value));
  }

  std::vector<Slot>& all() { return slots_; }
  // Returns the first slot with that name, or null.
  const Slot* Find(std::string_view name) const;

 private:
  std::vector<Slot> slots_;
  std::deque<std::uint64_t> facts_;
};

// The fields of an attr, named "attr.inherit" and so on. They refer to the memory at `attr`, which
// has `size` bytes; fields beyond it are not added.
void AddAttr(std::byte* attr, std::size_t size, Slots* slots);

// The fields of the control page.
void AddPage(std::byte* page, Slots* slots);

// Names that AddAttr and AddPage can add.
std::vector<std::string> AttrNames();
std::vector<std::string> PageNames();

}  // namespace pmuconf

#endif  // PMUCONF_LIES_SLOTS_H_
