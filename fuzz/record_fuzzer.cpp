// SPDX-License-Identifier: Apache-2.0
// core/record: any memory is decoded within its bounds to exactly the words in it. Well-formed
// memory is decoded to its end.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "property.h"

extern "C" {
#include "core/record.h"
}

namespace pmuconf::fuzz {
namespace {

constexpr u64 kLayoutBits = 0xff00000bULL;

// An independent reading of the same words that only knows the order of the groups.
class Words {
 public:
  Words(const u64* words, u64 count) : words_(words), count_(count) {}
  u64 Next() {
    PROPERTY(at_ < count_, "a decoded record is complete");
    return words_[at_++];
  }
  u64 at() const { return at_; }

 private:
  const u64* words_;
  u64 count_;
  u64 at_ = 0;
};

void CheckRecord(const u64* words, u64 count, u64 bytes, const refpmu_record& record) {
  Words in(words, count);
  const u64 format = in.Next();
  PROPERTY((format & ((u64{1} << 48) - 1) & ~kLayoutBits) == 0, "only known layouts are decoded");
  PROPERTY(format >> 48 == bytes, "a record has the size of its header");
  PROPERTY(bytes == refpmu_record_size(format & kLayoutBits), "a record is as long as its layout");
  PROPERTY(record.ip == in.Next() && record.counters == in.Next() && record.time == in.Next(),
           "the basic group is that of the memory");
  PROPERTY(record.has_memory == ((format & 1) != 0),
           "the memory group exists if the header has it");
  if (record.has_memory)
    PROPERTY(record.memory.address == in.Next() && record.memory.source == in.Next() &&
                 record.memory.latency == in.Next() && record.memory.transaction == in.Next(),
             "the memory group is that of the memory");
  PROPERTY(record.has_gprs == ((format & 2) != 0), "the registers exist if the header has them");
  if (record.has_gprs) {
    PROPERTY(record.gprs.flags == in.Next() && record.gprs.ip == in.Next(),
             "flags and ip are right");
    for (const u64 gpr : record.gprs.gpr) PROPERTY(gpr == in.Next(), "each register is right");
  }
  PROPERTY(record.n_lbr == ((format & 8) != 0 ? (format >> 24 & 0xff) + 1 : 0),
           "the number of branches is that of the header");
  PROPERTY((record.lbr != nullptr) == (record.n_lbr != 0), "no branches, no pointer to them");
  for (unsigned i = 0; i < record.n_lbr; ++i)
    PROPERTY(record.lbr[i].from == in.Next() && record.lbr[i].to == in.Next() &&
                 record.lbr[i].info == in.Next(),
             "each branch is right");
  PROPERTY(8 * in.at() == bytes, "the next record begins where this one ends");
}

// The bytes are in an allocation of their exact size, so that the sanitizer detects a read past the
// end.
struct Memory {
  explicit Memory(const std::vector<u64>& from) : words(new u64[from.size()]), count(from.size()) {
    if (count != 0) std::memcpy(words.get(), from.data(), 8 * count);
  }
  std::unique_ptr<u64[]> words;
  u64 count;
};

// The number of decoded records; @whole if the buffer ends with a record.
unsigned Decode(const Memory& memory, u64 size, bool* complete) {
  u64 offset = 0;
  unsigned records = 0;
  for (;;) {
    refpmu_record record;
    std::memset(&record, 0x5a, sizeof(record));
    const u64 ip = record.ip;
    const u64 before = offset;
    const int status = refpmu_record_next(memory.words.get(), size, &offset, &record);
    PROPERTY(status == 1 || status == 0 || status == -EINVAL, "the status is one of three");
    if (status != 1) {
      PROPERTY(offset == before && record.ip == ip, "an end writes nothing");
      PROPERTY((status == 0) == (offset == size), "the end is at the given size");
      *complete = status == 0;
      return records;
    }
    PROPERTY(offset > before && offset <= size, "each record advances within the buffer");
    CheckRecord(memory.words.get() + before / 8, memory.count - before / 8, offset - before,
                record);
    ++records;
  }
}

void CheckAnything(FuzzedDataProvider& data) {
  std::vector<u64> words(data.ConsumeIntegralInRange(0u, 128u));
  const unsigned shortfall = data.ConsumeIntegralInRange(0u, 7u);
  for (u64& word : words) {
    // Some headers get the size of their layout, since otherwise nearly no record would be decoded.
    word = data.ConsumeIntegral<u32>();
    if (data.ConsumeBool()) word |= data.ConsumeIntegral<u64>() << 32;
    if (data.ConsumeBool())
      word = (word & 0x0300000bU) | refpmu_record_size(word & 0x0300000bU) << 48;
  }
  const Memory memory(words);
  const u64 size = 8 * memory.count;
  bool complete;
  Decode(memory, size, &complete);
  if (size > shortfall) Decode(memory, size - shortfall, &complete);

  u64 offset = data.ConsumeBool() ? data.ConsumeIntegral<u64>() : 0;
  const u64 start = offset;
  refpmu_record_branch branch = {1, 2, true};
  u64 branches = 0;
  while (refpmu_record_next_branch(memory.words.get(), size, &offset, &branch) == 1) {
    const u64* raw = memory.words.get() + (offset - 24) / 8;
    PROPERTY(offset <= size && branch.from == raw[0] && branch.to == raw[1] &&
                 branch.predicted == ((raw[2] & 16) != 0),
             "a branch has the data of the memory");
    ++branches;
  }
  PROPERTY(offset == start + 24 * branches, "each branch advances by its size");
  if (start == 0) PROPERTY(branches == size / 24, "all branches of the memory are decoded");
}

void CheckWellFormed(FuzzedDataProvider& data) {
  std::vector<u64> words;
  const unsigned records = data.ConsumeIntegralInRange(0u, 6u);
  for (unsigned i = 0; i < records; ++i) {
    const u64 layout =
        data.ConsumeIntegral<u32>() & (data.ConsumeBool() ? kLayoutBits : 0x0f00000bU);
    const u64 bytes = refpmu_record_size(layout);
    PROPERTY(bytes >= 32 && bytes % 8 == 0, "a known layout has a size");
    words.push_back(layout | bytes << 48);
    for (u64 word = 1; word < bytes / 8; ++word) words.push_back(word << 32 | i);
  }
  const Memory memory(words);
  bool complete;
  PROPERTY(Decode(memory, 8 * memory.count, &complete) == records && complete,
           "well-formed memory is decoded to its end");
}

void CheckFilled(FuzzedDataProvider& data) {
  const u64 base = data.ConsumeIntegral<u64>() & ~7ULL;
  const u64 size = data.ConsumeIntegralInRange<u64>(0, 0x1000) & ~7ULL;
  if (base + size < base) return;
  const u64 index = data.ConsumeBool() ? data.ConsumeIntegral<u64>()
                                       : base + data.ConsumeIntegralInRange<u64>(0, 0x1008) - 4;
  const u64 filled = refpmu_record_filled(base, size, index);
  PROPERTY(filled <= size && filled % 8 == 0, "no more is filled than exists");
  const bool inside = index >= base && index <= base + size;
  PROPERTY(filled == (inside ? (index - base) / 8 * 8 : 0), "the index has the size");
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  switch (data.ConsumeIntegralInRange(0, 2)) {
    case 0:
      CheckAnything(data);
      break;
    case 1:
      CheckWellFormed(data);
      break;
    default:
      CheckFilled(data);
  }
  return 0;
}
