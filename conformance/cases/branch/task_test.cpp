// SPDX-License-Identifier: Apache-2.0
// Branch stacks and tasks: no branch leaks into another task, and a call stack follows its task.
#include <fcntl.h>
#include <unistd.h>

#include "cases/branch/branch.h"
#include "cases/common.h"
#include "rules/BRS.h"

namespace pmuconf {
namespace {

// Two tasks that run alternately, synchronized over a pair of pipes. Exactly one of them runs.
class Handover {
 public:
  Handover() {
    if (pipe2(to_child_, O_CLOEXEC) != 0 || pipe2(to_parent_, O_CLOEXEC) != 0)
      throw BrokenErrno("pipe", errno);
  }
  Handover(const Handover&) = delete;
  ~Handover() {
    for (const int fd : {to_child_[0], to_child_[1], to_parent_[0], to_parent_[1]}) close(fd);
  }
  // The parent calls this. It lets the child run until the child waits again.
  void RunChildUntilDone() const { SendAndWait(to_child_[1], to_parent_[0]); }
  // The child calls WaitForTurn() before its work, to wait for the parent's RunChildUntilDone(),
  // and EndTurn() after it.
  void WaitForTurn() const { Read(to_child_[0]); }
  void EndTurn() const { Write(to_parent_[1]); }

 private:
  static void Read(int fd) {
    char byte = 0;
    if (read(fd, &byte, 1) != 1) throw BrokenErrno("waiting for the other task", errno);
  }
  static void Write(int fd) {
    const char byte = 1;
    if (write(fd, &byte, 1) != 1) throw BrokenErrno("waking the other task", errno);
  }
  static void SendAndWait(int to, int from) {
    Write(to);
    Read(from);
  }

  int to_child_[2] = {-1, -1};
  int to_parent_[2] = {-1, -1};
};

constexpr std::uint64_t kOwn = 0x60400000;
constexpr std::uint64_t kOther = 0x60800000;
constexpr int kRounds = 8;

CONFORMANCE_CASE(BranchTask, NoBranchOfAnotherTaskIsShown, .rules = {rule::BRS_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Handover handover;
  Child child([&] {
    for (int i = 0; i < kRounds; ++i) {
      handover.WaitForTurn();
      RunBranches(port(), Jumps(kOther, target().branches()));
      handover.EndTurn();
    }
    return 0;
  });
  OpenOptions options = WithBranches(kAnyUserBranch);
  const Event own = Open(spec, options);
  options.pid = child.pid();
  const Event other = Open(spec, options);
  Ring ring(own, 4);
  own.Enable();
  other.Enable();
  child.Go();
  for (int i = 0; i < kRounds; ++i) {
    handover.RunChildUntilDone();
    const std::vector<Branch> some = Jumps(kOwn + 0x1000, 2);
    RunBranches(port(), some);
    EXPECT_EQ(StackNow(spec, ring), Newest(some, 2)) << "round " << i;
  }
  ASSERT_EQ(child.Wait(), 0);
}

CONFORMANCE_CASE(BranchTask, InheritedStacksHoldOwnTaskOnly, .rules = {rule::BRS_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Handover handover;
  OpenOptions options = WithBranches(kAnyUserBranch);
  options.cpu = CurrentCpu();
  options.inherit = true;
  auto [event, ring] = Sampler(spec, options, 16);
  Child child([&] {
    for (int i = 0; i < kRounds; ++i) {
      handover.WaitForTurn();
      RunBranches(port(), Jumps(kOther, 3));
      EndPeriod(spec);
      handover.EndTurn();
    }
    return 0;
  });
  const auto child_tid = static_cast<std::uint32_t>(child.pid());
  child.Go();
  for (int i = 0; i < kRounds; ++i) {
    handover.RunChildUntilDone();
    RunBranches(port(), Jumps(kOwn, 3));
    EndPeriod(spec);
  }
  ASSERT_EQ(child.Wait(), 0);
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 2u * kRounds);
  for (const Sample& sample : got.samples) {
    const std::uint64_t base = *sample.tid == child_tid ? kOther : kOwn;
    EXPECT_EQ(sample.branches->size(), 3u);
    for (const perf_branch_entry& entry : *sample.branches) {
      EXPECT_EQ(entry.from & ~0xfffull, base);
    }
  }
}

CONFORMANCE_CASE(BranchTask, CallStackHoldsTheCallsThatAreOpen, .rules = {rule::BRS_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, WithBranches(kCallStack));
  Ring ring(event, 4);
  event.Enable();
  std::vector<Branch> open;
  const auto call = [&](std::uint64_t from, std::uint64_t to) {
    open.push_back(Call(from, to));
    RunBranches(port(), {open.back(), Jumps(0x60600000, 1)[0]});
    EXPECT_EQ(StackNow(spec, ring), Newest(open, open.size()));
  };
  const auto ret = [&] {
    RunBranches(port(), {Return(open.back().to + 8, open.back().from + 5)});
    open.pop_back();
    EXPECT_EQ(StackNow(spec, ring), Newest(open, open.size()));
  };
  call(0x60401000, 0x60402000);
  call(0x60402010, 0x60403000);
  call(0x60403010, 0x60404000);
  ret();
  call(0x60403020, 0x60405000);
  ret();
  ret();
  ret();
}

// More calls are open than the hardware can hold, so its records have wrapped around.
CONFORMANCE_CASE(BranchTask, DeepCallStackHoldsTheNewestCalls,
                 .rules = {rule::BRS_004, rule::BRS_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, WithBranches(kCallStack), 4);
  std::vector<Branch> open;
  for (std::uint64_t i = 0; i < target().branches() + 3; ++i) {
    open.push_back(Call(kOwn + 0x100 * i, kOwn + 0x100 * i + 0x80));
  }
  RunBranches(port(), open);
  EXPECT_EQ(StackNow(spec, ring), Newest(open, target().branches())) << rule::BRS_004;
}

// The other task's calls are mispredicted, and this task's calls are not, so their flags differ.
CONFORMANCE_CASE(BranchTask, CallStackFollowsTask,
                 .rules = {rule::BRS_004, rule::BRS_005, rule::BRS_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Handover handover;
  Child child([&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      handover.WaitForTurn();
      Branch call = Call(kOther + 0x100 * i, kOther + 0x100 * i + 0x80);
      call.flags = REFPMU_BRANCH_MISPREDICTED;
      RunBranches(port(), {call});
      EndPeriod(spec);
      handover.EndTurn();
    }
    return 0;
  });
  OpenOptions options = WithBranches(kCallStack);
  const Event own = Open(spec, options);
  options.pid = child.pid();
  const Event other = Open(spec, options);
  Ring own_ring(own, 8);
  Ring other_ring(other, 8);
  own.Enable();
  other.Enable();
  child.Go();
  std::vector<Branch> open;
  std::vector<Branch> open_there;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    open.push_back(Call(kOwn + 0x100 * i, kOwn + 0x100 * i + 0x80));
    RunBranches(port(), {open.back()});
    handover.RunChildUntilDone();
    EXPECT_EQ(StackNow(spec, own_ring), Newest(open, open.size())) << rule::BRS_004;
    open_there.push_back(Call(kOther + 0x100 * i, kOther + 0x100 * i + 0x80));
    const RingContents got = other_ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_EQ(FromTos(got.samples[0]), Newest(open_there, open_there.size())) << rule::BRS_004;
    for (const perf_branch_entry& entry : *got.samples[0].branches) {
      EXPECT_TRUE(entry.mispred) << rule::BRS_012;
    }
  }
  ASSERT_EQ(child.Wait(), 0);
}

// The first event records branches of the same task with another filter. They are no call stack.
CONFORMANCE_CASE(BranchTask, CallStackHoldsNothingFromBeforeItsEvent,
                 .rules = {rule::BRS_004, rule::BRS_008},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Handover handover;
  const std::vector<Branch> before = {Call(kOther, kOther + 0x80),
                                      Return(kOther + 0x88, kOther + 5)};
  const std::vector<Branch> open = {Call(kOther + 0x100, kOther + 0x180)};
  Child child([&] {
    handover.WaitForTurn();
    RunBranches(port(), before);
    handover.EndTurn();
    handover.WaitForTurn();
    RunBranches(port(), open);
    EndPeriod(spec);
    handover.EndTurn();
    return 0;
  });
  OpenOptions options = WithBranches(kAnyUserBranch);
  options.pid = child.pid();
  const Event all = Open(spec, options);
  options = WithBranches(kCallStack);
  options.pid = child.pid();
  const Event calls = Open(spec, options);
  Ring ring(calls, 8);
  all.Enable();
  child.Go();
  handover.RunChildUntilDone();
  all.Disable();
  calls.Enable();
  handover.RunChildUntilDone();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  EXPECT_EQ(FromTos(got.samples[0]), Newest(open, 1)) << rule::BRS_008;
  ASSERT_EQ(child.Wait(), 0);
}

CONFORMANCE_CASE(BranchTask, InheritedCallStackFollowsTask, .rules = {rule::BRS_004, rule::BRS_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Handover handover;
  OpenOptions options = WithBranches(kCallStack);
  options.cpu = CurrentCpu();
  options.inherit = true;
  auto [event, ring] = Sampler(spec, options, 16);
  // The contexts of parent and child are clones. The kernel may swap them at a context switch.
  Child child([&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      handover.WaitForTurn();
      RunBranches(port(), {Call(kOther + 0x100 * i, kOther + 0x100 * i + 0x80)});
      EndPeriod(spec);
      handover.EndTurn();
    }
    return 0;
  });
  const auto child_tid = static_cast<std::uint32_t>(child.pid());
  child.Go();
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    RunBranches(port(), {Call(kOwn + 0x100 * i, kOwn + 0x100 * i + 0x80)});
    handover.RunChildUntilDone();
    EndPeriod(spec);
  }
  ASSERT_EQ(child.Wait(), 0);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 2u * kRounds);
  std::size_t own = 0;
  std::size_t other = 0;
  for (const Sample& sample : got.samples) {
    const bool is_child = *sample.tid == child_tid;
    std::size_t& n = is_child ? other : own;
    ++n;
    ASSERT_EQ(sample.branches->size(), n) << rule::BRS_004 << (is_child ? " child" : "");
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ((*sample.branches)[i].from, (is_child ? kOther : kOwn) + 0x100 * (n - 1 - i))
          << rule::BRS_004;
    }
  }
}

}  // namespace
}  // namespace pmuconf
