// SPDX-License-Identifier: Apache-2.0
// Tests which registers of a processor belong to the model, and their numbers there.
#include <gtest/gtest.h>

#include <optional>

#include "core.h"

extern "C" {
#include "msr/numbers.h"
}

namespace pmuconf {
namespace {

constexpr refpmu_model_params kPlain = {.general = 4, .fixed = 3, .width = 48};
constexpr refpmu_model_params kAll = {
    .general = 8, .fixed = 3, .width = 48, .lbr = 32, .records = true};

constexpr refpmu_model_params kAmd = {.general = 6, .width = 48};

std::optional<u32> Find(refpmu_msr_kind kind, const refpmu_model_params& params, u32 msr) {
  u32 reg = 0;
  if (!refpmu_msr_find(kind, &params, msr, &reg)) return std::nullopt;
  return reg;
}

std::optional<u32> Intel(const refpmu_model_params& params, u32 msr) {
  return Find(REFPMU_MSR_INTEL, params, msr);
}

std::optional<u32> Amd(refpmu_msr_kind kind, u32 msr) { return Find(kind, kAmd, msr); }

u64 Written(u64 value) {
  return refpmu_msr_written_value(REFPMU_MSR_AMD_CORE, &kAmd, REFPMU_REG_EVTSEL(5), value);
}

u64 Shown(u64 value) {
  return refpmu_msr_read_value(REFPMU_MSR_AMD_CORE, &kAmd, REFPMU_REG_EVTSEL(5), value);
}

std::optional<u32> Pmc(const refpmu_model_params& params, u32 number) {
  u32 reg = 0;
  if (!refpmu_msr_find_pmc(&params, number, &reg)) return std::nullopt;
  return reg;
}

TEST(Numbers, IntelMsrsHaveTheNumbersOfTheModel) {
  for (const u32 msr : {0xc1u, 0xc4u, 0x186u, 0x189u, 0x309u, 0x30bu, 0x345u, 0x38du, 0x38eu,
                        0x38fu, 0x390u, 0x391u, 0x4c1u, 0x4c4u}) {
    EXPECT_EQ(Intel(kPlain, msr), msr) << std::hex << msr;
  }
}

TEST(Numbers, AbsentMsrsAreNotMapped) {
  for (const u32 msr : {0xc0u, 0xc5u, 0x185u, 0x18au, 0x308u, 0x30cu, 0x38cu, 0x392u, 0x4c5u,
                        0x1a6u, 0x3f1u, 0x3f6u, 0x600u, 0x1c8u, 0x1c9u, 0x680u, 0x6c0u, 0xdc0u}) {
    EXPECT_EQ(Intel(kPlain, msr), std::nullopt) << std::hex << msr;
  }
}

TEST(Numbers, RecordsAndBranchesAddTheirMsrs) {
  for (const u32 msr : {0xc8u, 0x18du, 0x1a6u, 0x1a7u, 0x1c8u, 0x1c9u, 0x3f1u, 0x3f2u, 0x3f6u,
                        0x600u, 0x680u, 0x69fu, 0x6dfu, 0xddfu}) {
    EXPECT_EQ(Intel(kAll, msr), msr) << std::hex << msr;
  }
}

TEST(Numbers, OlderRecordFormatHasNoDataCfg) {
  refpmu_model_params older = kAll;
  older.pebs_format = 3;
  EXPECT_EQ(Intel(older, 0x3f2), std::nullopt);
  EXPECT_EQ(Intel(older, 0x3f1), 0x3f1u);
}

// Other code uses bits of DEBUGCTL.
TEST(Numbers, DebugctlBitsOfOtherCodeStayInTheProcessor) {
  EXPECT_EQ(Intel(kAll, 0x1d9), 0x1d9u);
  EXPECT_EQ(Intel(kPlain, 0x1d9), std::nullopt);
  EXPECT_EQ(refpmu_msr_processor_bits(0x1d9), ~0x1801ull);
  EXPECT_EQ(refpmu_msr_processor_bits(0x38f), 0u);
  EXPECT_EQ(refpmu_msr_processor_bits(0x1c8), 0u);
}

TEST(Numbers, BranchTypesAreHidden) {
  const auto shown = [](u32 reg) {
    return refpmu_msr_read_value(REFPMU_MSR_INTEL, &kAll, reg, 0xe5000000'0000abcd);
  };
  EXPECT_EQ(shown(0xdc0), 0xe0000000'0000abcdu);
  EXPECT_EQ(shown(0xddf), 0xe0000000'0000abcdu);
  EXPECT_EQ(shown(0x69f), 0xe5000000'0000abcdu);
  EXPECT_EQ(shown(0xdbf), 0xe5000000'0000abcdu);
}

TEST(Numbers, NoMsrsAreMappedWithoutAProcessor) {
  EXPECT_EQ(Find(REFPMU_MSR_NONE, kAll, 0x38f), std::nullopt);
  EXPECT_EQ(Find(REFPMU_MSR_NONE, kAll, 0xc0010000), std::nullopt);
}

TEST(Numbers, EachAmdGenerationAddsMsrs) {
  for (const refpmu_msr_kind kind : {REFPMU_MSR_AMD_K7, REFPMU_MSR_AMD_CORE, REFPMU_MSR_AMD_V2}) {
    EXPECT_EQ(Amd(kind, 0xc0010000), REFPMU_REG_EVTSEL(0));
    EXPECT_EQ(Amd(kind, 0xc0010003), REFPMU_REG_EVTSEL(3));
    EXPECT_EQ(Amd(kind, 0xc0010004), REFPMU_REG_A_PMC(0));
    EXPECT_EQ(Amd(kind, 0xc0010007), REFPMU_REG_A_PMC(3));
    EXPECT_EQ(Amd(kind, 0xc0010008), std::nullopt);
    EXPECT_EQ(Amd(kind, 0x186), std::nullopt) << "a register of Intel's";
    const bool core = kind != REFPMU_MSR_AMD_K7;
    EXPECT_EQ(Amd(kind, 0xc001020a), core ? std::optional(REFPMU_REG_EVTSEL(5)) : std::nullopt);
    EXPECT_EQ(Amd(kind, 0xc001020b), core ? std::optional(REFPMU_REG_A_PMC(5)) : std::nullopt);
    EXPECT_EQ(Amd(kind, 0xc001020c), std::nullopt);
    const bool v2 = kind == REFPMU_MSR_AMD_V2;
    const auto global = [&](u32 reg) { return v2 ? std::optional(reg) : std::nullopt; };
    EXPECT_EQ(Amd(kind, 0xc0000300), global(REFPMU_REG_GLOBAL_STATUS));
    EXPECT_EQ(Amd(kind, 0xc0000301), global(REFPMU_REG_GLOBAL_CTRL));
    EXPECT_EQ(Amd(kind, 0xc0000302), global(REFPMU_REG_GLOBAL_STATUS_RESET));
    EXPECT_EQ(Amd(kind, 0xc0000303), global(REFPMU_REG_GLOBAL_STATUS_SET));
    EXPECT_EQ(refpmu_msr_lacks_status(kind), !v2);
  }
}

TEST(Numbers, AmdCyclesEventIsConverted) {
  EXPECT_EQ(Written(0x530076), 0x53003cu);
  EXPECT_EQ(Written(0x53003c), 0x530076u);
  EXPECT_EQ(Written(0x5300c0), 0x5300c0u);
  for (const u64 value : {0x530076u, 0x53003cu, 0x5300c0u, 0u}) {
    EXPECT_EQ(Shown(Written(value)), value);
  }
}

TEST(Numbers, EventCodesAreConverted) {
  EXPECT_EQ(refpmu_msr_code(REFPMU_MSR_INTEL, 0x0300), REFPMU_EVENT_REF_CYCLES);
  EXPECT_EQ(refpmu_msr_code(REFPMU_MSR_INTEL, REFPMU_EVENT_REF_CYCLES), 0x0300);
  EXPECT_EQ(refpmu_msr_code(REFPMU_MSR_INTEL, 0x0076), 0x0076);
  EXPECT_EQ(refpmu_msr_written_value(REFPMU_MSR_INTEL, &kAll, REFPMU_REG_EVTSEL(7), 0x53013c),
            0x530300u);
  EXPECT_EQ(refpmu_msr_read_value(REFPMU_MSR_INTEL, &kAll, REFPMU_REG_EVTSEL(7), 0x530300),
            0x53013cu);
  EXPECT_EQ(refpmu_msr_code(REFPMU_MSR_AMD_K7, 0x0076), REFPMU_EVENT_CYCLES);
  EXPECT_EQ(refpmu_msr_code(REFPMU_MSR_AMD_K7, 0x0300), 0x0300);
}

TEST(Numbers, FieldsAbsentInTheModelAreRemoved) {
  EXPECT_EQ(Written(0x30000530076), 0x53003cu) << "guest and host";
  EXPECT_EQ(Written(0x20000530076), 0x53003cu) << "host";
  EXPECT_EQ(Written(0x10000530076), 0x13003cu) << "there are no guests to be counted";
  EXPECT_EQ(Written(0x1005300c0), 0x1300c0u) << "an event of the upper half is not enabled";
  EXPECT_EQ(refpmu_msr_written_value(REFPMU_MSR_AMD_CORE, &kAmd, REFPMU_REG_A_PMC(0), 0x76), 0x76u);
  EXPECT_EQ(refpmu_msr_written_value(REFPMU_MSR_INTEL, &kAll, REFPMU_REG_EVTSEL(0), 0x1005300c0),
            0x1005300c0u);
}

TEST(Numbers, AmdStatusClearAcceptsAllBits) {
  const u32 clear = REFPMU_REG_GLOBAL_STATUS_RESET;
  EXPECT_EQ(refpmu_msr_written_value(REFPMU_MSR_AMD_V2, &kAmd, clear, ~0ull), 0x3fu);
  EXPECT_EQ(refpmu_msr_written_value(REFPMU_MSR_AMD_V2, &kAmd, clear, ~0ull << 1), 0x3eu);
  EXPECT_EQ(refpmu_msr_written_value(REFPMU_MSR_INTEL, &kPlain, clear, ~0ull), ~0ull);
}

TEST(Numbers, RdpmcNumbersSelectTheCounters) {
  EXPECT_EQ(Pmc(kPlain, 0), 0x4c1u);
  EXPECT_EQ(Pmc(kPlain, 3), 0x4c4u);
  EXPECT_EQ(Pmc(kPlain, 4), std::nullopt);
  EXPECT_EQ(Pmc(kPlain, 0x40000000), 0x309u);
  EXPECT_EQ(Pmc(kPlain, 0x40000002), 0x30bu);
  EXPECT_EQ(Pmc(kPlain, 0x40000003), std::nullopt);
}

}  // namespace
}  // namespace pmuconf
