// SPDX-License-Identifier: Apache-2.0
// Tests requests of the stimulus port: each field up to its limit, and one more.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core.h"

extern "C" {
#include "port_arg.h"
}

namespace {

refpmu_port_arg Asked(unsigned cmd) {
  refpmu_port_arg arg = {};
  arg.head.size = _IOC_SIZE(cmd);
  return arg;
}

TEST(PortArg, SizeMustMatchTheRequestNumber) {
  for (const unsigned cmd : {REFPMU_IOC_INFO, REFPMU_IOC_PULSE, REFPMU_IOC_CLOCK,
                             REFPMU_IOC_ADVANCE, REFPMU_IOC_REG, REFPMU_IOC_LINE, REFPMU_IOC_INJECT,
                             REFPMU_IOC_LOG, REFPMU_IOC_STATS, REFPMU_IOC_BRANCHES}) {
    refpmu_port_arg arg = Asked(cmd);
    EXPECT_EQ(refpmu_port_check(cmd, &arg), 0) << cmd;
    for (const unsigned size : {0U, arg.head.size - 1, arg.head.size + 1}) {
      arg.head.size = size;
      EXPECT_EQ(refpmu_port_check(cmd, &arg), -EINVAL) << cmd;
    }
  }
  refpmu_port_arg none = {};
  EXPECT_EQ(refpmu_port_check(REFPMU_IOC_RESET, &none), 0);
}

TEST(PortArg, UnknownRequestReturnsEnotty) {
  refpmu_port_arg arg = Asked(REFPMU_IOC_PULSE);
  EXPECT_EQ(refpmu_port_check(0, &arg), -ENOTTY);
  EXPECT_EQ(refpmu_port_check(REFPMU_IOC_PULSE + 1, &arg), -ENOTTY);
  EXPECT_EQ(refpmu_port_check(_IOWR(0xB7, 11, refpmu_pulse), &arg), -ENOTTY);
}

// A field of a request, and its largest valid value.
struct Bound {
  const char* name;
  unsigned cmd;
  std::uint32_t* field;
  std::uint32_t most;
};

TEST(PortArg, FieldsAreCheckedAgainstTheirBounds) {
  refpmu_port_arg arg = {};
  const std::vector<Bound> bounds = {
      {"pulse.event", REFPMU_IOC_PULSE, &arg.pulse.event, 0xffff},
      {"pulse.privilege", REFPMU_IOC_PULSE, &arg.pulse.privilege, 1},
      {"pulse.per_pulse", REFPMU_IOC_PULSE, &arg.pulse.per_pulse, 63},
      {"pulse.latency", REFPMU_IOC_PULSE, &arg.pulse.latency, 0xffff},
      {"pulse.reserved", REFPMU_IOC_PULSE, &arg.pulse.reserved, 0},
      {"clock.mode", REFPMU_IOC_CLOCK, &arg.clock.mode, 1},
      {"clock.reserved", REFPMU_IOC_CLOCK, &arg.clock.reserved, 0},
      {"advance.privilege", REFPMU_IOC_ADVANCE, &arg.advance.privilege, 1},
      {"reg.write", REFPMU_IOC_REG, &arg.reg.write, 1},
      {"line.hold", REFPMU_IOC_LINE, &arg.line.hold, 1},
      {"line.reserved", REFPMU_IOC_LINE, &arg.line.reserved, 0},
      {"branches.count", REFPMU_IOC_BRANCHES, &arg.branches.count, 65536},
      {"branches.reserved", REFPMU_IOC_BRANCHES, &arg.branches.reserved, 0},
  };
  for (const Bound& bound : bounds) {
    arg = Asked(bound.cmd);
    *bound.field = bound.most;
    EXPECT_EQ(refpmu_port_check(bound.cmd, &arg), 0) << bound.name;
    *bound.field = bound.most + 1;
    EXPECT_EQ(refpmu_port_check(bound.cmd, &arg), -EINVAL) << bound.name;
  }
}

TEST(PortArg, PlainPulseHasOnlyANumber) {
  const auto refused = [](auto field) {
    refpmu_port_arg arg = Asked(REFPMU_IOC_PULSE);
    arg.pulse.event = 0xffff;
    arg.pulse.n = ~0ULL;
    arg.pulse.per_pulse = 1;
    EXPECT_EQ(refpmu_port_check_plain(&arg), 0);
    arg.pulse.*field = 2;
    return refpmu_port_check_plain(&arg);
  };
  EXPECT_EQ(refused(&refpmu_pulse::per_pulse), -EINVAL);
  EXPECT_EQ(refused(&refpmu_pulse::skid), -EINVAL);
  EXPECT_EQ(refused(&refpmu_pulse::latency), -EINVAL);
  EXPECT_EQ(refused(&refpmu_pulse::source), -EINVAL);
  EXPECT_EQ(refused(&refpmu_pulse::response), -EINVAL);
  EXPECT_EQ(refused(&refpmu_pulse::regs), -EINVAL);
}

TEST(PortArg, OneInvalidBranchIsDetected) {
  std::vector<refpmu_branch_entry> entries(3);
  entries[2] = {.from = 1, .to = 2, .kind = 6, .flags = 7, .cycles = 0xffff, .privilege = 1};
  const auto check = [&entries] { return refpmu_port_check_entries(entries.data(), 3); };
  EXPECT_EQ(check(), 0);
  const auto refused = [&](auto field, std::uint32_t value) {
    const refpmu_branch_entry good = entries[2];
    entries[2].*field = value;
    EXPECT_EQ(check(), -EINVAL) << value;
    EXPECT_EQ(refpmu_port_check_entries(entries.data(), 2), 0);
    entries[2] = good;
  };
  refused(&refpmu_branch_entry::kind, 7);
  refused(&refpmu_branch_entry::flags, 8);
  refused(&refpmu_branch_entry::cycles, 0x10000);
  refused(&refpmu_branch_entry::privilege, 2);
}

}  // namespace
