// SPDX-License-Identifier: Apache-2.0
// Tests records of format 3 (Skylake).
#include <gtest/gtest.h>

#include "core.h"
#include "slow_device.h"

namespace pmuconf {
namespace {

constexpr u64 kTop = (u64{1} << 48) - 1;
constexpr u64 kArea = Memory::kBase;
constexpr u64 kPebs = kArea + 0x200;
constexpr u64 kRecord = 200;
constexpr u64 kOn = REFPMU_EVTSEL_EN | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS;

// The buffer has space for four records; the threshold is after two.
class WholeRecord : public testing::Test {
 protected:
  WholeRecord() {
    refpmu_model_params params = {.general = 4,
                                  .fixed = 3,
                                  .width = 48,
                                  .records = true,
                                  .memory = Memory::Resolve,
                                  .context = &memory_,
                                  .pebs_format = 3};
    EXPECT_EQ(refpmu_model_reset(&model_, &params), 0);
    const u64 pebs[] = {kPebs, kPebs, kPebs + 4 * kRecord, kPebs + 2 * kRecord};
    for (u64 i = 0; i < 4; ++i) memory_.At(kArea + 32 + 8 * i) = pebs[i];
    Write(REFPMU_REG_DS_AREA, kArea);
    Write(REFPMU_REG_EVTSEL(1), kOn | 0x1d0);
    Write(REFPMU_REG_A_PMC(1), kTop);
    Write(REFPMU_REG_GLOBAL_CTRL, 0x70000000f);
  }

  void Write(u32 reg, u64 value) {
    EXPECT_EQ(refpmu_model_write(&model_, reg, value), 0) << std::hex << reg;
  }
  u64 Read(u32 reg) {
    u64 value = 0;
    EXPECT_EQ(refpmu_model_read(&model_, reg, &value), 0) << std::hex << reg;
    return value;
  }
  // Generates one event with values in all fields.
  u64 Pulse() {
    refpmu_origin origin = {.privilege = REFPMU_USER,
                            .latency = 321,
                            .ip = 0x401000,
                            .addr = 0x7f00,
                            .source = 0x5,
                            .time = 99,
                            .flags = 0x246};
    for (u64 i = 0; i < REFPMU_GPRS; ++i) origin.gpr[i] = 0x1000 + i;
    const refpmu_stimulus one = {.code = 0x1d0, .n = 1, .origin = &origin};
    return refpmu_model_stimulate(&model_, &one).overflowed;
  }
  u64 Index() { return memory_.At(kArea + 40); }

  Memory memory_;
  refpmu_model model_ = {};
};

TEST_F(WholeRecord, CapabilitiesReportTheFormat) {
  EXPECT_EQ(Read(REFPMU_REG_PERF_CAPABILITIES), 0x2380u);
  u64 value = 0;
  EXPECT_EQ(refpmu_model_read(&model_, REFPMU_REG_PEBS_DATA_CFG, &value), -EINVAL);
  EXPECT_EQ(refpmu_model_write(&model_, REFPMU_REG_PEBS_DATA_CFG, 0), -EINVAL);
}

TEST_F(WholeRecord, RecordHasTheLayoutOfSkylake) {
  Write(REFPMU_REG_PEBS_ENABLE, 2);
  EXPECT_EQ(Pulse(), 0u);
  ASSERT_EQ(Index(), kPebs + kRecord);
  const u64 want[] = {0x246,  0x401000, 0x1000, 0x1003, 0x1001,   0x1002, 0x1006, 0x1007, 0x1005,
                      0x1004, 0x1008,   0x1009, 0x100a, 0x100b,   0x100c, 0x100d, 0x100e, 0x100f,
                      0x2,    0x7f00,   0x5,    321,    0x401000, 0,      99};
  static_assert(sizeof(want) == kRecord);
  for (u64 i = 0; i < kRecord / 8; ++i) {
    EXPECT_EQ(memory_.At(kPebs + 8 * i), want[i]) << "word " << i;
  }
}

TEST_F(WholeRecord, ThresholdRaisesAnInterruptAndReloadsTheCounter) {
  memory_.At(kArea + 64 + 8) = kTop - 1;
  Write(REFPMU_REG_PEBS_ENABLE, 2);
  EXPECT_EQ(Pulse(), 0u);
  EXPECT_EQ(Read(REFPMU_REG_A_PMC(1)), kTop - 1);
  EXPECT_EQ(Pulse(), 0u);
  EXPECT_EQ(Pulse(), REFPMU_STATUS_DS);
  EXPECT_EQ(Index(), kPebs + 2 * kRecord);
  EXPECT_EQ(Read(REFPMU_REG_GLOBAL_STATUS), REFPMU_STATUS_DS);
  EXPECT_TRUE(refpmu_model_line(&model_));
}

// Bits 32 and up belong to fixed counters in format 5, and to load latency events here.
TEST_F(WholeRecord, LoadLatencyBitsWriteNoRecords) {
  for (int bit = 0; bit < 64; ++bit) {
    const bool allowed = 0xf0000000full >> bit & 1;
    EXPECT_EQ(refpmu_model_write(&model_, REFPMU_REG_PEBS_ENABLE, BIT_ULL(bit)),
              allowed ? 0 : -EINVAL)
        << bit;
  }
  Write(REFPMU_REG_PEBS_ENABLE, 0xf00000000);
  Write(REFPMU_REG_FIXED_CTR_CTRL, 0xbbb);
  Write(REFPMU_REG_FIXED_CTR(1), kTop);
  EXPECT_EQ(refpmu_model_advance(&model_, 1, REFPMU_USER, false).overflowed, BIT_ULL(33));
  EXPECT_EQ(Pulse(), 2u);
  EXPECT_EQ(Index(), kPebs);
}

TEST(WholeRecordReset, UnknownFormatsAreRejected) {
  for (unsigned format = 0; format < 256; ++format) {
    const refpmu_model_params params = {
        .general = 4, .fixed = 3, .width = 48, .pebs_format = static_cast<u8>(format)};
    refpmu_model model;
    const bool good = format == 0 || format == 3 || format == 5;
    EXPECT_EQ(refpmu_model_reset(&model, &params), good ? 0 : -EINVAL) << format;
  }
}

}  // namespace
}  // namespace pmuconf
