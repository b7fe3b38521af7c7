// SPDX-License-Identifier: Apache-2.0
// Tests the record decoder: it decodes every layout correctly and stops at broken memory.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

constexpr u64 kMemory = REFPMU_PEBS_DATA_MEMORY;
constexpr u64 kGprs = REFPMU_PEBS_DATA_GPRS;

u64 Lbrs(unsigned entries) {
  return REFPMU_PEBS_DATA_LBRS | u64{entries - 1} << REFPMU_PEBS_DATA_LBR_SHIFT;
}

// The buffer has exactly the size of the data, so that a sanitizer detects a read past its end.
class Buffer {
 public:
  // Adds a record whose words, except the first, count up from @seed.
  void Add(u64 data_cfg, u64 seed) {
    const u64 bytes = refpmu_record_size(data_cfg);
    words_.push_back(data_cfg | bytes << REFPMU_PEBS_SIZE_SHIFT);
    for (u64 i = 1; i < bytes / 8; ++i) words_.push_back(seed + i);
  }
  void Cut(size_t words) { words_.resize(words_.size() - words); }
  u64& at(size_t word) { return words_.at(word); }
  u64 bytes() const { return 8 * words_.size(); }

  int Next() { return Next(bytes()); }
  int Next(u64 size) {
    words_.shrink_to_fit();
    return refpmu_record_next(words_.data(), size, &offset, &record);
  }

  u64 offset = 0;
  refpmu_record record = {};

 private:
  std::vector<u64> words_;
};

std::vector<u64> Layouts() {
  std::vector<u64> layouts;
  for (u64 memory : {u64{0}, kMemory}) {
    for (u64 gprs : {u64{0}, kGprs}) {
      for (u64 lbrs : {u64{0}, Lbrs(1), Lbrs(32), Lbrs(256)}) {
        layouts.push_back(memory | gprs | lbrs);
      }
    }
  }
  return layouts;
}

TEST(Record, SizeIsTheSumOfItsGroups) {
  EXPECT_EQ(refpmu_record_size(0), 32u);
  EXPECT_EQ(refpmu_record_size(kMemory), 64u);
  EXPECT_EQ(refpmu_record_size(kGprs), 32u + 144);
  EXPECT_EQ(refpmu_record_size(Lbrs(1)), 32u + 24);
  EXPECT_EQ(refpmu_record_size(kMemory | kGprs | Lbrs(256)), 32u + 32 + 144 + 256 * 24);
  // The number of entries is ignored unless branch entries are requested.
  EXPECT_EQ(refpmu_record_size(REFPMU_PEBS_DATA_LBR_COUNT), 32u);
  // Vector registers, and bits that are not defined yet.
  for (u64 unknown : {BIT_ULL(2), BIT_ULL(4), BIT_ULL(23), BIT_ULL(32), BIT_ULL(63)}) {
    EXPECT_EQ(refpmu_record_size(kMemory | unknown), 0u);
  }
}

TEST(Record, EachLayoutIsDecoded) {
  Buffer buffer;
  u64 seed = 0;
  for (u64 layout : Layouts()) buffer.Add(layout, seed += 0x10000);
  seed = 0;
  for (u64 layout : Layouts()) {
    SCOPED_TRACE(testing::Message() << std::hex << layout);
    const u64 before = buffer.offset;
    ASSERT_EQ(buffer.Next(), 1);
    EXPECT_EQ(buffer.offset - before, refpmu_record_size(layout));
    const refpmu_record& record = buffer.record;
    u64 word = seed += 0x10000;
    EXPECT_EQ(record.ip, ++word);
    EXPECT_EQ(record.counters, ++word);
    EXPECT_EQ(record.time, ++word);
    ASSERT_EQ(record.has_memory, (layout & kMemory) != 0);
    if (record.has_memory) {
      EXPECT_EQ(record.memory.address, ++word);
      EXPECT_EQ(record.memory.source, ++word);
      EXPECT_EQ(record.memory.latency, ++word);
      EXPECT_EQ(record.memory.transaction, ++word);
    } else {
      EXPECT_EQ(record.memory.address | record.memory.source | record.memory.latency, 0u);
    }
    ASSERT_EQ(record.has_gprs, (layout & kGprs) != 0);
    if (record.has_gprs) {
      EXPECT_EQ(record.gprs.flags, ++word);
      EXPECT_EQ(record.gprs.ip, ++word);
      for (u64 gpr : record.gprs.gpr) EXPECT_EQ(gpr, ++word);
    } else {
      EXPECT_EQ(record.gprs.flags | record.gprs.ip | record.gprs.gpr[15], 0u);
    }
    ASSERT_EQ(record.lbr != nullptr, (layout & REFPMU_PEBS_DATA_LBRS) != 0);
    EXPECT_EQ(record.n_lbr, record.lbr ? (layout >> REFPMU_PEBS_DATA_LBR_SHIFT) + 1 : 0);
    for (unsigned i = 0; i < record.n_lbr; ++i) {
      EXPECT_EQ(record.lbr[i].from, ++word);
      EXPECT_EQ(record.lbr[i].to, ++word);
      EXPECT_EQ(record.lbr[i].info, ++word);
    }
  }
  EXPECT_EQ(buffer.offset, buffer.bytes());
  EXPECT_EQ(buffer.Next(), 0);
}

void ExpectEnd(Buffer& buffer) {
  const u64 before = buffer.offset;
  buffer.record.ip = 0x5a5a;
  EXPECT_EQ(buffer.Next(), -EINVAL);
  EXPECT_EQ(buffer.offset, before);
  EXPECT_EQ(buffer.record.ip, 0x5a5au);
}

TEST(Record, IncompleteRecordEndsTheBuffer) {
  for (u64 layout : Layouts()) {
    for (u64 words = 1; words < refpmu_record_size(layout) / 8; words += words < 8 ? 1 : 7) {
      Buffer buffer;
      buffer.Add(layout, 0);
      buffer.Cut(words);
      ExpectEnd(buffer);
    }
  }
}

TEST(Record, WrongSizeEndsTheBuffer) {
  for (u64 size : {0, 8, 24, 31, 33, 40, 64, 0xffff}) {
    Buffer buffer;
    buffer.Add(0, 0);
    buffer.Add(0, 0);
    buffer.at(0) = size << REFPMU_PEBS_SIZE_SHIFT;
    ExpectEnd(buffer);
  }
}

TEST(Record, UnknownOrWrongLayoutEndsTheBuffer) {
  for (int bit = 0; bit < 48; ++bit) {
    Buffer buffer;
    buffer.Add(kMemory | kGprs | Lbrs(1), 0);
    buffer.at(0) ^= BIT_ULL(bit);
    ExpectEnd(buffer);
  }
}

TEST(Record, InvalidOffsetReadsNothing) {
  for (u64 offset : {u64{1}, u64{4}, u64{40}, u64{72}, u64{8} << 40, ~u64{0}, ~u64{7}}) {
    Buffer buffer;
    buffer.Add(0, 0);
    buffer.Add(0, 0);
    buffer.offset = offset;
    ExpectEnd(buffer);
    refpmu_record_branch branch = {1, 2, true};
    const u64 words[4] = {};
    u64 at = offset;
    EXPECT_EQ(refpmu_record_next_branch(words, sizeof(words), &at, &branch), -EINVAL);
    EXPECT_EQ(at, offset);
    EXPECT_EQ(branch.from, 1u);
  }
}

TEST(Record, BranchRecordsAreDecoded) {
  const u64 words[] = {1, 2, REFPMU_BTS_PREDICTED, 3, 4, ~REFPMU_BTS_PREDICTED, 5, 6};
  refpmu_record_branch branch = {};
  u64 offset = 0;
  ASSERT_EQ(refpmu_record_next_branch(words, sizeof(words), &offset, &branch), 1);
  EXPECT_TRUE(branch.from == 1 && branch.to == 2 && branch.predicted);
  ASSERT_EQ(refpmu_record_next_branch(words, sizeof(words), &offset, &branch), 1);
  EXPECT_TRUE(branch.from == 3 && branch.to == 4 && !branch.predicted);
  EXPECT_EQ(offset, 48u);
  // Half a record is an error. A buffer without it ends normally.
  EXPECT_EQ(refpmu_record_next_branch(words, sizeof(words), &offset, &branch), -EINVAL);
  EXPECT_EQ(refpmu_record_next_branch(words, 48, &offset, &branch), 0);
  EXPECT_EQ(offset, 48u);
}

TEST(Record, ValidIndexDeterminesTheFilledBytes) {
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0x1000), 0u);
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0x1040), 0x40u);
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0x1047), 0x40u);
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0x1800), 0x800u);
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0x1801), 0u);
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0xfff), 0u);
  EXPECT_EQ(refpmu_record_filled(0x1000, 0x800, 0), 0u);
  EXPECT_EQ(refpmu_record_filled(~u64{0} - 0xfff, 0x800, ~u64{0}), 0u);
}

TEST(Record, RandomMemoryIsDecodedOrRejected) {
  std::mt19937_64 random(16);
  int decoded = 0;
  for (int i = 0; i < 20'000; ++i) {
    Buffer buffer;
    const unsigned records = 1 + random() % 4;
    for (unsigned k = 0; k < records; ++k) {
      buffer.Add((random() & (kMemory | kGprs)) | (random() % 2 ? Lbrs(1 + random() % 8) : 0), 0);
    }
    if (random() % 2) buffer.at(random() % (buffer.bytes() / 8)) = random();
    if (random() % 4 == 0) buffer.Cut(random() % 4);
    unsigned seen = 0;
    int status;
    while ((status = buffer.Next()) == 1) {
      ++seen;
      // The branch entries are the last words of the record.
      const auto* end = reinterpret_cast<const u64*>(buffer.record.lbr + buffer.record.n_lbr);
      if (buffer.record.lbr) {
        ASSERT_EQ(end, &buffer.at(0) + buffer.offset / 8);
      }
      ASSERT_LE(buffer.offset, buffer.bytes());
    }
    ASSERT_LE(seen, records);
    ASSERT_TRUE(status == 0 || status == -EINVAL);
    decoded += status == 0;
  }
  EXPECT_GT(decoded, 5'000);
  EXPECT_LT(decoded, 19'000);
}

}  // namespace
}  // namespace pmuconf
