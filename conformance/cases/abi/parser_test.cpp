// SPDX-License-Identifier: Apache-2.0
// The kernel's parser of the attr, without any driver. PERF_EVENT_IOC_MODIFY_ATTRIBUTES parses the
// attr and fails before it calls the driver.
#include "arch/arch.h"
#include "cases/common.h"
#include "cases/plain_event.h"
#include "harness/behaviour.h"
#include "perf/kernel_behaviour.h"
#include "rules/ABI.h"

namespace pmuconf {
namespace {

using Edit = std::function<void(perf_event_attr&)>;

class Parser {
 public:
  // The parser's result for the attr of an event of the target, changed by `edit`: 0, or an errno.
  int ParserErrno(const Edit& edit) const {
    perf_event_attr attr = event_.attr();
    edit(attr);
    const auto arg = reinterpret_cast<unsigned long>(&attr);
    const int error = event_.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, arg).error;
    return error == EOPNOTSUPP ? 0 : error;  // accepted: only breakpoints can be modified
  }

 private:
  Event event_ = Open(PlainEvent());
};

CONFORMANCE_CASE(AttrParser, UnknownAuxActionBitsAreRefused, .rules = {rule::ABI_014}) {
  const Parser parser;
  const int known = static_cast<int>(KnownAuxActionBits());
  EXPECT_TRUE(IsBehaviour(rule::ABI_014, "known_bits", known));
  for (int bit = 0; bit < 32; ++bit) {
    const auto set = [bit](perf_event_attr& attr) { attr.aux_action = 1u << bit; };
    EXPECT_EQ(parser.ParserErrno(set), bit < known ? 0 : EINVAL) << bit;
  }
}

CONFORMANCE_CASE(AttrParser, UnknownBranchBitsAreRefused, .rules = {rule::ABI_018}) {
  const Parser parser;
  const int known = static_cast<int>(KnownBranchBits());
  EXPECT_TRUE(IsBehaviour(rule::ABI_018, "known_bits", known));
  for (int bit = 0; bit < 64; ++bit) {
    const auto set = [bit](perf_event_attr& attr) {
      attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
      attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | 1ull << bit;
    };
    EXPECT_EQ(parser.ParserErrno(set), bit < known ? 0 : EINVAL) << bit;
  }
}

// A mask of 0 is invalid. Another mask is invalid as soon as it has one bit without a register.
void CheckRegisters(const std::function<int(std::uint64_t)>& parser_errno, const Rule& rule) {
  const std::uint64_t known = reg::kAll | reg::ExtendedRegisters();
  EXPECT_EQ(parser_errno(0), EINVAL) << rule;
  EXPECT_EQ(parser_errno(known), 0) << rule;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = 1ull << bit;
    EXPECT_EQ(parser_errno(one), (known & one) != 0 ? 0 : EINVAL) << bit << rule;
    EXPECT_EQ(parser_errno(known | one), (known & one) != 0 ? 0 : EINVAL) << bit << rule;
  }
}

CONFORMANCE_CASE(AttrParser, UnknownUserRegistersAreRefused, .rules = {rule::ABI_022}) {
  const Parser parser;
  const auto parser_errno = [&](std::uint64_t mask) {
    return parser.ParserErrno([mask](perf_event_attr& attr) {
      attr.sample_type = PERF_SAMPLE_REGS_USER;
      attr.sample_regs_user = mask;
    });
  };
  CheckRegisters(parser_errno, rule::ABI_022);
}

CONFORMANCE_CASE(AttrParser, UnknownInterruptRegistersAreRefused, .rules = {rule::ABI_023}) {
  const Parser parser;
  const auto parser_errno = [&](std::uint64_t mask) {
    return parser.ParserErrno([mask](perf_event_attr& attr) {
      attr.sample_type = PERF_SAMPLE_REGS_INTR;
      attr.sample_regs_intr = mask;
    });
  };
  CheckRegisters(parser_errno, rule::ABI_023);
}

// /proc/cgroups lists the controller perf_event only on a kernel with CONFIG_CGROUP_PERF.
CONFORMANCE_CASE(AttrParser, CgroupSamplesNeedCgroupSupport, .rules = {rule::ABI_027}) {
  const Parser parser;
  const auto controllers = ReadFile("/proc/cgroups");
  const bool there = controllers && controllers->find("perf_event") != std::string::npos;
  EXPECT_EQ(
      parser.ParserErrno([](perf_event_attr& attr) { attr.sample_type = PERF_SAMPLE_CGROUP; }),
      there ? 0 : EINVAL);
}

// The kernel modifies only breakpoints, so no event of a PMU under test. It compares the types of
// both attrs only after the new attr was parsed.
CONFORMANCE_CASE(AttrParser, TypeIsCheckedLast, .rules = {rule::ABI_036}) {
  const Parser parser;
  EXPECT_EQ(parser.ParserErrno([](perf_event_attr&) {}), 0);
  const auto another = [](perf_event_attr& attr) { attr.type = PERF_TYPE_BREAKPOINT; };
  EXPECT_EQ(parser.ParserErrno(another), EINVAL);
  EXPECT_EQ(parser.ParserErrno([&](perf_event_attr& attr) {
    another(attr);
    attr.size = 63;
  }),
            E2BIG);
  const Event event = Open(Software(PERF_COUNT_SW_DUMMY));
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0), FailsWith(EFAULT));
}

}  // namespace
}  // namespace pmuconf
