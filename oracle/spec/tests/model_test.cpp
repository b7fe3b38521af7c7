// SPDX-License-Identifier: Apache-2.0
// The test plays both sides: it makes the operations, and answers as a right or a wrong kernel.
// Longer than 500 lines: each check of the model has its tests here.
#include "oracle/spec/model.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace pmuconf {
namespace {

constexpr std::uint16_t kCode = 0x1d0, kOther = 0x1d3;
constexpr std::uint64_t kStep_ns = 1'000'000;
constexpr std::size_t kLong = 240;

class SpecModelTest : public testing::Test {
 protected:
  SpecModelTest() { model_.SetTasks(kSelf); }

  static SpecKind Pulses(std::uint16_t code = kCode, std::uint64_t counters = 0xf) {
    SpecKind kind;
    kind.source = SpecSource::kPulses;
    kind.code = code;
    kind.counters = counters;
    return kind;
  }
  // It is enabled.
  static SpecOpen Timed() {
    SpecOpen open = Plain();
    open.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    open.attr.disabled = 0;
    return open;
  }
  static SpecOpen Plain(std::uint64_t period = 0) {
    SpecOpen open;
    open.kind = Pulses();
    open.attr.disabled = 1;
    open.attr.sample_period = period;
    open.valid = true;
    return open;
  }
  void Next() {
    const SpecNow before = now_;
    now_.time += kStep_ns;
    now_.on_cpu += kStep_ns;
    model_.Begin(before, now_);
  }
  void Open(unsigned slot, const SpecOpen& open, int error = 0) {
    Next();
    model_.Open(slot, open, {error == 0 ? 3 : -1, error});
  }
  void Ioctl(unsigned slot, unsigned long request, std::uint64_t argument = 0, int error = 0) {
    Next();
    model_.Ioctl(slot, request, argument, 0, {0, error});
  }
  void Pulse(std::uint64_t n, std::uint16_t code = kCode, bool in_child = false) {
    Next();
    model_.Happen({.in_child = in_child, .code = code, .n = n}, {0, 0});
  }
  void Read(unsigned slot, std::vector<std::uint64_t> words) {
    Next();
    const auto* const bytes = reinterpret_cast<const std::byte*>(words.data());
    const std::size_t size = words.size() * sizeof(std::uint64_t);
    model_.Read(slot, kLong, {static_cast<long>(size), 0, {bytes, size}});
  }
  void Map(unsigned slot) {
    Next();
    model_.Map(slot, 1, true, {0, 0});
  }
  // The checks that disagreed since the last call.
  std::vector<SpecCheck> Found() {
    std::vector<SpecCheck> found;
    for (const SpecDisagreement& each : judge_.disagreements()) found.push_back(each.check);
    judge_.Clear();
    return found;
  }
  // A record, and its place behind the others.
  static void Append(std::vector<std::byte>& data, std::uint32_t type, std::uint16_t misc,
                     std::vector<std::uint64_t> words) {
    const std::size_t size = words.size() * sizeof(std::uint64_t);
    perf_event_header header = {};
    header.type = type;
    header.misc = misc;
    header.size = static_cast<std::uint16_t>(sizeof(header) + size);
    const std::size_t at = data.size();
    data.resize(at + header.size);
    std::memcpy(&data[at], &header, sizeof(header));
    if (size > 0) std::memcpy(&data[at + sizeof(header)], words.data(), size);
  }
  void Drain(unsigned slot, const std::vector<std::byte>& data, std::uint64_t head) {
    Next();
    model_.Drain(slot, {static_cast<long>(head), 0, data});
  }

  static constexpr std::uint32_t kSelf = 77;
  SpecJudge judge_;
  SpecMachine machine_ = {.general = 4, .fixed = 3, .poll_reports_rdnorm = false};
  SpecModel model_{machine_, &judge_};
  SpecNow now_ = {.time = 1'000'000'000};
};

const std::vector<SpecCheck> kNone;

TEST_F(SpecModelTest, CountsWhatHappensWhileTheEventIsEnabled) {
  Open(0, Plain());
  Pulse(5);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  Pulse(7);
  Ioctl(0, PERF_EVENT_IOC_DISABLE);
  Pulse(9);
  Read(0, {7});
  EXPECT_EQ(Found(), kNone);
  Read(0, {8});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, ResetKeepsTheTimes) {
  SpecOpen open = Plain();
  open.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  open.attr.disabled = 0;
  Open(0, open);
  Pulse(3);
  Ioctl(0, PERF_EVENT_IOC_RESET);
  Read(0, {0, 3 * kStep_ns, 3 * kStep_ns});
  EXPECT_EQ(Found(), kNone);
  Read(0, {0, kStep_ns / 2, kStep_ns / 2});
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
}

TEST_F(SpecModelTest, RunningTimeIsWithinEnabledTime) {
  SpecOpen open = Plain();
  open.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  open.attr.disabled = 0;
  Open(0, open);
  Read(0, {0, kStep_ns, kStep_ns + 10});
  EXPECT_EQ(Found(),
            (std::vector<SpecCheck>{SpecCheck::kRunningWithinEnabled, SpecCheck::kAllRunning}));
}

TEST_F(SpecModelTest, EventThatHasItsCounterRunsExactlyAsLongAsItIsEnabled) {
  Open(0, Timed());
  Read(0, {0, kStep_ns, kStep_ns});
  EXPECT_EQ(Found(), kNone);
  Read(0, {0, 2 * kStep_ns, 2 * kStep_ns - 1});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kAllRunning});
  // The difference stays.
  Read(0, {0, 3 * kStep_ns, 3 * kStep_ns - 1});
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecModelTest, TimeThatIsOneNanosecondTooShortIsNoticed) {
  Open(0, Timed());
  Pulse(1);
  // It was enabled at some time in the first step, and is read in the third one.
  Read(0, {1, kStep_ns, kStep_ns});
  EXPECT_EQ(Found(), kNone);
  // The reading is exact.
  Pulse(1);
  Read(0, {2, 2 * kStep_ns - 1, 2 * kStep_ns - 1});
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
}

TEST_F(SpecModelTest, TimeOfTheTaskStandsStillWhileAPinnedEventOfTheCpuStarts) {
  Open(0, Timed());
  Read(0, {0, kStep_ns, kStep_ns});
  SpecOpen pinned = Plain();
  pinned.task = SpecTask::kCpu;
  pinned.attr.disabled = 0;
  Open(1, pinned);
  Read(0, {0, 2 * kStep_ns, 2 * kStep_ns});
  EXPECT_EQ(Found(), kNone);
  Open(1, pinned);
  Pulse(1);
  Read(0, {1, 3 * kStep_ns, 3 * kStep_ns});
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
  pinned.attr.pinned = 1;
  Open(2, pinned);
  Pulse(1);
  Read(0, {2, 4 * kStep_ns, 4 * kStep_ns});
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecModelTest, OlderKernelsLoseTimeWhileTheySchedule) {
  machine_.time_goes_on = false;
  SpecModel older(machine_, &judge_);
  const auto next = [&] {
    const SpecNow before = now_;
    now_.time += kStep_ns;
    now_.on_cpu += kStep_ns;
    older.Begin(before, now_);
  };
  next();
  older.Open(0, Timed(), {3, 0});
  next();
  SpecOpen other = Plain();
  other.attr.disabled = 0;
  older.Open(1, other, {4, 0});
  const auto read = [&](std::uint64_t time) {
    next();
    const std::uint64_t words[] = {0, time, time};
    older.Read(0, kLong, {sizeof(words), 0, std::as_bytes(std::span(words))});
  };
  read(0);
  EXPECT_EQ(Found(), kNone);
  next();
  older.Poll(0, {0x10, 0});
  read(kStep_ns - 1);
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
}

TEST_F(SpecModelTest, TimesAreNotJudgedWithoutTheirClock) {
  machine_.exact_clock = false;
  SpecModel blind(machine_, &judge_);
  now_.time += kStep_ns;
  blind.Begin(now_, now_);
  blind.Open(0, Timed(), {3, 0});
  const std::uint64_t words[] = {0, kStep_ns, kStep_ns};
  blind.Read(0, kLong, {sizeof(words), 0, std::as_bytes(std::span(words))});
  EXPECT_EQ(Found(), kNone);
  EXPECT_EQ(judge_.unknown()[static_cast<std::size_t>(SpecCheck::kEnabledTime)], 1u);
}

// The kernel gives each event of the group the state in which it was opened.
TEST_F(SpecModelTest, LostStateOfAMovedGroupIsAKnownDeviation) {
  SpecOpen leader = Timed();
  leader.kind.source = SpecSource::kNothing;
  leader.kind.counters = 0;
  leader.attr.disabled = 1;
  Open(0, leader);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  Read(0, {0, kStep_ns, kStep_ns});
  SpecOpen member = Plain();
  member.grouped = true;
  Open(1, member);
  Pulse(1);
  Read(0, {0, 2 * kStep_ns, 2 * kStep_ns});
  EXPECT_EQ(Found(), kNone);
  // A kernel that keeps the state is right, too.
  Read(0, {0, 4 * kStep_ns, 4 * kStep_ns});
  ASSERT_FALSE(judge_.disagreements().empty());
  for (const SpecDisagreement& each : judge_.disagreements()) {
    EXPECT_EQ(each.finding, "moved group");
  }
}

TEST_F(SpecModelTest, NewEventCompetesWithTheOldOneOfItsSlot) {
  SpecOpen last = Plain();
  last.kind = Pulses(kOther, 0x8);
  last.attr.disabled = 0;
  Open(0, last);
  Open(0, last);
  // The new event waits, although the program has closed the old one.
  Pulse(5, kOther);
  Read(0, {0});
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecModelTest, ExclusiveGroupWithADisabledHardwareMemberStillExcludesOthers) {
  SpecOpen leader = Plain();
  leader.kind = {};
  leader.kind.source = SpecSource::kNothing;
  leader.attr.disabled = 0;
  leader.attr.exclusive = 1;
  Open(0, leader);
  SpecOpen member = Plain();
  member.grouped = true;
  Open(1, member);
  SpecOpen other = Plain();
  other.attr.disabled = 0;
  Open(2, other);
  // Which of the groups runs is not defined.
  Pulse(3);
  Read(2, {0});
  EXPECT_EQ(Found(), kNone);
  Read(2, {4});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, EnabledMemberThatWaitsForItsLeaderStartsNothing) {
  SpecOpen last = Plain();
  last.kind = Pulses(kOther, 0x8);
  last.attr.disabled = 0;
  Open(0, last);
  Open(1, last);
  SpecOpen member = Plain();
  member.grouped = true;
  member.leader = 1;
  Open(2, member);
  Next();
  model_.Close(0, {0, 0});
  // The leader waits for the kernel's next attempt, which this does not cause.
  Ioctl(2, PERF_EVENT_IOC_ENABLE);
  Pulse(5, kOther);
  Read(1, {0});
  EXPECT_EQ(Found(), kNone);
  Ioctl(1, PERF_EVENT_IOC_DISABLE);
  Ioctl(1, PERF_EVENT_IOC_ENABLE);
  Pulse(5, kOther);
  Read(1, {4});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, ExecStartsTheEventThatWaitsForIt) {
  SpecOpen open = Timed();
  open.task = SpecTask::kChild;
  open.attr.disabled = 1;
  Next();
  model_.Fork({100, 0});
  Open(0, open);
  open.attr.enable_on_exec = 1;
  Open(1, open);
  Next();
  model_.ChildExecs();
  model_.ChildExits();
  Read(0, {0, 0, 0});
  Read(1, {0, kStep_ns / 2, kStep_ns / 2});
  EXPECT_EQ(Found(), kNone);
  Read(1, {0, 0, 0});
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
  Read(0, {0, kStep_ns / 2, kStep_ns / 2});
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
}

TEST_F(SpecModelTest, ExecRemovesTheEventThatAsksForIt) {
  SpecOpen open = Timed();
  open.task = SpecTask::kChild;
  open.attr.remove_on_exec = 1;
  Next();
  model_.Fork({100, 0});
  Open(0, open);
  Read(0, {0, 10, 10});
  Next();
  model_.ChildExecs();
  EXPECT_EQ(model_.StateOf(0), "exited");
  model_.ChildExits();
  Read(0, {0, 20, 20});
  EXPECT_EQ(Found(), kNone);
  Read(0, {0, 21, 21});
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kEnabledTime, SpecCheck::kRunningTime}));
}

TEST_F(SpecModelTest, TracepointCountsAtLeastTheKnownSystemCalls) {
  SpecOpen open = Plain();
  open.kind = {};
  open.kind.source = SpecSource::kSyscalls;
  open.attr.disabled = 0;
  Open(0, open);
  now_.syscalls += 7;
  Pulse(1);
  Read(0, {9});
  EXPECT_EQ(Found(), kNone);
  Ioctl(0, PERF_EVENT_IOC_RESET);
  now_.syscalls += 7;
  Pulse(1);
  Read(0, {6});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kSoftwareValue});
}

TEST_F(SpecModelTest, MemberCountsOnlyUnderAnEnabledLeader) {
  Open(0, Plain());
  SpecOpen member = Plain();
  member.grouped = true;
  member.attr.disabled = 0;
  Open(1, member);
  Pulse(4);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  Pulse(2);
  Read(1, {2});
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecModelTest, GroupThatDoesNotFitIsRefused) {
  SpecOpen last = Plain();
  last.kind = Pulses(kOther, 0x8);
  last.attr.disabled = 0;
  Open(0, last);
  last.grouped = true;
  Open(1, last, EINVAL);
  EXPECT_EQ(Found(), kNone);
  Open(1, last);
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kGroupFits});
}

TEST_F(SpecModelTest, CountsOfCompetingEventsAreBoundedAndNarrowed) {
  SpecOpen last = Plain();
  last.kind = Pulses(kOther, 0x8);
  last.attr.disabled = 0;
  Open(0, last);
  Open(1, last);
  Pulse(10, kOther);
  Read(0, {4});
  Read(0, {4});
  EXPECT_EQ(Found(), kNone);
  Read(0, {3});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
  Read(1, {11});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, PinnedEventKeepsItsCounter) {
  SpecOpen last = Plain();
  last.kind = Pulses(kOther, 0x8);
  last.attr.disabled = 0;
  Open(0, last);
  last.attr.pinned = 1;
  Open(1, last);
  Pulse(10, kOther);
  Read(1, {9});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, OverflowsGiveOneSampleForEachPeriod) {
  Open(0, Plain(3));
  Map(0);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  Pulse(7);
  std::vector<std::byte> data;
  Append(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, {});
  Append(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, {});
  Drain(0, data, data.size());
  EXPECT_EQ(Found(), kNone);
  // The third overflow is 2 events away.
  Pulse(2);
  Drain(0, {}, data.size());
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kHead, SpecCheck::kRecordKind}));
}

TEST_F(SpecModelTest, SampleOfAnotherPrivilegeLevelIsNoticed) {
  Open(0, Plain(1));
  Map(0);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  Pulse(1);
  std::vector<std::byte> data;
  Append(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, {});
  Drain(0, data, data.size());
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kSampleMode});
}

TEST_F(SpecModelTest, LostSamplesAreReportedBeforeTheNextOne) {
  SpecOpen open = Plain(1);
  open.attr.sample_type = PERF_SAMPLE_PERIOD;
  open.attr.read_format = PERF_FORMAT_LOST;
  Open(0, open);
  Map(0);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  constexpr std::uint64_t kPage = 4096, kSize = 16, kFit = kPage / kSize - 1;
  Pulse(kFit + 4);
  std::vector<std::byte> data;
  for (std::uint64_t i = 0; i < kFit; ++i) {
    Append(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, {1});
  }
  Read(0, {kFit + 4, 4});
  Drain(0, data, data.size());
  EXPECT_EQ(Found(), kNone);
  const std::uint64_t head = data.size();
  Pulse(1);
  data.clear();
  Append(data, PERF_RECORD_LOST, 0, {12, 5});
  Append(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, {1});
  Drain(0, data, head + data.size());
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kLostRecord});
}

TEST_F(SpecModelTest, RefreshLimitsTheOverflows) {
  Open(0, Plain(5));
  Ioctl(0, PERF_EVENT_IOC_REFRESH, 2);
  Pulse(100);
  Read(0, {10});
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecModelTest, PeriodIsRefusedForCountingEvents) {
  Open(0, Plain());
  Ioctl(0, PERF_EVENT_IOC_PERIOD, 5, EINVAL);
  EXPECT_EQ(Found(), kNone);
  Ioctl(0, PERF_EVENT_IOC_PERIOD, 5);
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kPeriod});
}

TEST_F(SpecModelTest, ChildrenOfInheritedEventsCountForTheirParent) {
  SpecOpen open = Plain();
  open.attr.inherit = 1;
  open.attr.disabled = 0;
  Open(0, open);
  Next();
  model_.Fork({100, 0});
  Pulse(3);
  Pulse(4, kCode, true);
  Read(0, {7});
  Next();
  model_.ChildExits();
  Read(0, {7});
  EXPECT_EQ(Found(), kNone);
  // RESET leaves what the child has added, and the tasks may have exchanged their events.
  Ioctl(0, PERF_EVENT_IOC_RESET);
  Read(0, {4});
  EXPECT_EQ(Found(), kNone);
  Read(0, {8});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, MovedGroupIsEnabledButDoesNotRunMeanwhile) {
  SpecOpen leader = Timed();
  leader.kind.source = SpecSource::kNothing;
  leader.kind.counters = 0;
  Open(0, leader);
  SpecOpen member = Plain();
  member.grouped = true;
  Open(1, member);
  Read(0, {0, 2 * kStep_ns, 2 * kStep_ns - 10});
  EXPECT_EQ(Found(), kNone);
  // It does not fall further behind.
  Read(0, {0, 3 * kStep_ns, 3 * kStep_ns - 11});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kAllRunning});
}

TEST_F(SpecModelTest, MembersOfALeaderThatStopsAreNotPredicted) {
  Open(0, Plain(7));
  SpecOpen member = Plain(1);
  member.attr.disabled = 0;
  member.grouped = true;
  Open(1, member);
  Next();
  model_.SendSignals(1, {0, 0});
  Map(1);
  Ioctl(0, PERF_EVENT_IOC_REFRESH, 1);
  Pulse(12);
  Next();
  model_.TakeSignals(1, 1, {7, 0});
  std::vector<std::byte> data;
  for (unsigned i = 0; i < 7; ++i) Append(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, {});
  Drain(1, data, data.size());
  Read(0, {7});
  Read(1, {7});
  EXPECT_EQ(Found(), kNone);
  Read(1, {8});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kValue});
}

TEST_F(SpecModelTest, SignalsAfterAnExchangeOfTasksAreNotPredicted) {
  const auto take = [this](bool fork, long signals) {
    SpecModel model(machine_, &judge_);
    SpecOpen open = Plain(1);
    open.attr.disabled = 0;
    open.attr.inherit = 1;
    model.Begin(now_, now_);
    model.Open(0, open, {3, 0});
    if (fork) model.Fork({100, 0});
    model.SendSignals(0, {0, 0});
    model.ChildExits();
    model.Happen({.code = kCode, .n = 5}, {0, 0});
    model.TakeSignals(0, 1, {signals, 0});
    return Found();
  };
  EXPECT_EQ(take(true, 7), kNone);
  EXPECT_EQ(take(false, 5), kNone);
  EXPECT_EQ(take(false, 7), std::vector<SpecCheck>{SpecCheck::kSignals});
}

TEST_F(SpecModelTest, GroupReadingThatLosesLostSamplesIsAKnownDeviation) {
  SpecOpen open = Plain(1);
  open.attr.inherit = 1;
  open.attr.disabled = 0;
  open.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_LOST;
  open.any_cpu = false;
  Open(0, open);
  Map(0);
  constexpr std::uint64_t kPulses = 600, kFit = 511;  // records without fields
  Pulse(kPulses);
  Read(0, {1, kPulses, kPulses - kFit});
  EXPECT_EQ(Found(), kNone);
  Next();
  model_.Fork({100, 0});
  Read(0, {1, kPulses, 0});
  ASSERT_EQ(judge_.disagreements().size(), 1u);
  EXPECT_EQ(judge_.disagreements()[0].finding, "group lost");
  judge_.Clear();
  Next();
  model_.ChildExits();
  Read(0, {1, kPulses, 0});
  ASSERT_EQ(judge_.disagreements().size(), 1u);
  EXPECT_EQ(judge_.disagreements()[0].finding, "");
}

TEST_F(SpecModelTest, DriverMayKeepRoomForDisabledMembers) {
  machine_.disabled_members_need_room = true;
  SpecModel model(machine_, &judge_);
  SpecOpen open = Plain();
  open.kind = Pulses(kOther, 0x3);
  model.Begin(now_, now_);
  model.Open(0, open, {3, 0});
  open.grouped = true;
  model.Open(1, open, {4, 0});
  model.Open(2, open, {-1, EINVAL});
  EXPECT_EQ(Found(), kNone);
  model.Open(2, open, {5, 0});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kGroupFits});
}

TEST_F(SpecModelTest, EventLivesUntilItsLastDescriptorIsClosed) {
  SpecOpen open = Plain();
  open.attr.disabled = 0;
  Open(0, open);
  Next();
  model_.Duplicate(0, 1, {4, 0});
  Next();
  model_.Close(0, {0, 0});
  Pulse(6);
  Read(1, {6});
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecModelTest, PollReportsDataOnce) {
  SpecOpen open = Plain(1);
  open.attr.wakeup_events = 2;
  Open(0, open);
  Next();
  model_.Poll(0, {0x10, 0});
  EXPECT_EQ(Found(), kNone);
  Map(0);
  Ioctl(0, PERF_EVENT_IOC_ENABLE);
  Pulse(1);
  Next();
  model_.Poll(0, {0, 0});
  Pulse(1);
  Next();
  model_.Poll(0, {1, 0});
  EXPECT_EQ(Found(), kNone);
  Next();
  model_.Poll(0, {1, 0});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kPoll});
}

TEST_F(SpecModelTest, PollReportsNormalDataAsWell) {
  machine_.poll_reports_rdnorm = true;
  SpecModel model(machine_, &judge_);
  SpecOpen open = Plain(1);
  open.attr.disabled = 0;
  open.attr.wakeup_events = 1;
  const auto next = [&] {
    const SpecNow before = now_;
    now_.time += kStep_ns;
    model.Begin(before, now_);
  };
  next();
  model.Open(0, open, {3, 0});
  next();
  model.Map(0, 1, true, {0, 0});
  for (const long events : {0x41, 0x01}) {
    next();
    model.Happen({.code = kCode, .n = 1}, {0, 0});
    next();
    model.Poll(0, {events, 0});
    EXPECT_EQ(Found().size(), events == 0x41 ? 0u : 1u);
  }
}

TEST_F(SpecModelTest, EachOverflowSendsASignalAndTheLastHangsUp) {
  Open(0, Plain(5));
  Next();
  model_.SendSignals(0, {0, 0});
  Ioctl(0, PERF_EVENT_IOC_REFRESH, 3);
  Pulse(10);
  constexpr int kIn = 1, kHangUp = 6;
  Next();
  model_.TakeSignals(0, kIn, {2, 0});
  EXPECT_EQ(Found(), kNone);
  Pulse(10);
  Next();
  model_.TakeSignals(0, kHangUp, {1, 0});
  EXPECT_EQ(Found(), kNone);
  Ioctl(0, PERF_EVENT_IOC_REFRESH, 1);
  Pulse(5);
  Next();
  model_.TakeSignals(0, kIn, {1, 0});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kSignalCode});
  Next();
  model_.TakeSignals(0, kIn, {1, 0});
  EXPECT_EQ(Found(), std::vector<SpecCheck>{SpecCheck::kSignals});
}

constexpr std::uint64_t kChildTask = 100;

class SpecForkTest : public SpecModelTest {
 protected:
  // Forks, and drains the record of the fork, which ends with the ids of the task `last`.
  void DrainFork(std::uint64_t last) {
    SpecOpen open = Plain();
    open.attr.task = 1;
    open.attr.sample_id_all = 1;
    open.attr.sample_type = PERF_SAMPLE_TID;
    open.attr.disabled = 0;
    Open(0, open);
    Map(0);
    Next();
    model_.Fork({kChildTask, 0});
    const std::uint64_t pids = kChildTask | std::uint64_t{kSelf} << 32;
    std::vector<std::byte> data;
    Append(data, PERF_RECORD_FORK, 0, {pids, pids, 1, last | last << 32});
    Drain(0, data, data.size());
  }
};

TEST_F(SpecForkTest, RecordEndsLikeEachRecord) {
  DrainFork(kSelf);
  EXPECT_EQ(Found(), kNone);
}

TEST_F(SpecForkTest, RecordThatEndsWithAnotherTaskIsNoticed) {
  DrainFork(kChildTask);
  EXPECT_EQ(Found(), (std::vector<SpecCheck>{SpecCheck::kTrailer, SpecCheck::kTrailer}));
}

TEST(SpecChecks, EachHasARule) {
  for (const SpecCheckRow& row : SpecChecks()) {
    EXPECT_EQ(row.rule.size(), 7u - (row.rule.starts_with("RB-") ? 1u : 0u)) << row.name;
  }
}

}  // namespace
}  // namespace pmuconf
