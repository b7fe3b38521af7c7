// SPDX-License-Identifier: Apache-2.0
// The executable specification of perf: it follows a program operation by operation, predicts what
// each one returns, and compares this with the observation.
//
// It knows tasks (the program and at most one child), events, groups, counters, buffers and
// descriptors. Where the ABI leaves freedom it keeps bounds, which observations narrow. A check
// without a prediction is counted and not made.
#ifndef PMUCONF_ORACLE_SPEC_MODEL_H_
#define PMUCONF_ORACLE_SPEC_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "oracle/spec/interval.h"
#include "oracle/spec/judge.h"
#include "oracle/spec/state.h"
#include "perf/event.h"
#include "perf/ring.h"
#include "perf/sample.h"

namespace pmuconf {

inline constexpr std::size_t kSpecSlots = 8;

// What a program observes of one operation.
struct SpecResult {
  long value = 0;
  int error = 0;
  std::span<const std::byte> data = {};  // bytes that were read
};

struct SpecOpen {
  perf_event_attr attr = {};
  SpecKind kind;
  SpecTask task = SpecTask::kSelf;
  bool any_cpu = true;
  bool grouped = false;
  unsigned leader = 0;  // the slot of the group's leader
  bool valid = false;   // nothing but the size of its group can make the call fail
};

struct SpecHappening {
  bool in_child = false;
  bool clock = false;  // `n` ticks of the manual clock, or else `n` pulses
  std::uint16_t code = 0;
  std::uint64_t n = 0;
  bool kernel = false;  // the privilege level
};

class SpecModel {
 public:
  SpecModel(const SpecMachine& machine, SpecJudge* judge) : machine_(machine), judge_(judge) {}

  // The next operation began after `before` and ended before `after`. The model sets the members
  // after `on_cpu` up to `undisturbed` itself.
  void Begin(const SpecNow& before, const SpecNow& after);
  // Ids for the records of tasks.
  void SetTasks(std::uint32_t self) { self_ = self; }

  void Open(unsigned slot, const SpecOpen& call, const SpecResult& result);
  void Close(unsigned slot, const SpecResult& result);
  void Duplicate(unsigned slot, unsigned to, const SpecResult& result);
  // `other`: the slot of the event that SET_OUTPUT names.
  void Ioctl(unsigned slot, unsigned long request, std::uint64_t argument, unsigned other,
             const SpecResult& result);
  void Read(unsigned slot, std::size_t size, const SpecResult& result);
  void Poll(unsigned slot, const SpecResult& result);
  // The event sends the signals of the slot. / The program takes `result.value` of them; the last
  // has the si_code `code`.
  void SendSignals(unsigned slot, const SpecResult& result);
  void TakeSignals(unsigned slot, int code, const SpecResult& result);
  void Map(unsigned slot, std::size_t pages, bool writable, const SpecResult& result);
  void Unmap(unsigned slot, const SpecResult& result);
  // `result.data`: the bytes between tail and head. `result.value`: the head.
  void Drain(unsigned slot, const SpecResult& result);
  void SwitchTasks(bool enable, const SpecResult& result);  // prctl(2)
  void Fork(const SpecResult& result);
  void ChildExits();
  void ChildExecs();  // and its new program runs
  void Happen(const SpecHappening& what, const SpecResult& result);

  // The state of the event in a slot, for coverage.
  std::string_view StateOf(unsigned slot) const;
  static std::span<const std::string_view> States();

 private:
  SpecEvent* At(unsigned slot);
  SpecEvent& Leader(const SpecEvent& event) { return events_[event.leader]; }
  std::size_t IndexOf(const SpecEvent& event) const {
    return static_cast<std::size_t>(&event - events_.data());
  }
  std::vector<std::size_t> GroupOf(const SpecEvent& event) const;

  // Whether it would count if it had a counter.
  bool Enabled(const SpecEvent& event) const;
  // Whether the enabled members of the groups, and these events, have counters at the same time.
  bool Fit(const std::vector<std::size_t>& leaders, const std::vector<std::size_t>& more) const;
  struct Running {
    bool all = true;     // every group has counters
    bool pinned = true;  // the pinned ones have
  };
  Running Compete(SpecTask task) const;
  // Whose waiting events the kernel has just tried to schedule.
  struct Tried {
    bool task = false, cpu = false;
    void Add(const Tried& other) {
      task = task || other.task;
      cpu = cpu || other.cpu;
    }
  };
  // Returns whose waiting events the kernel tries to schedule when the event is enabled.
  Tried TriedWith(const SpecEvent& event) const;
  // The operation stops events to schedule others, and `event` with them.
  void StandStill(const SpecEvent& event);
  // Brings the times up to date, and decides which events run.
  void Schedule(const Tried& tried);
  void Change(SpecTimes& times, bool enabled, SpecRuns runs, SpecTask task);
  Interval Elapsed(const Moment& from, SpecTask task) const;
  void AddSoftwareCount(SpecEvent& event);

  Tried Enable(SpecEvent& event);
  void Disable(SpecEvent& event) { event.on = false; }
  void Reset(SpecEvent& event);
  void Apply(SpecEvent& event, bool group, const std::function<void(SpecEvent&)>& act);
  void NoteMove(const SpecEvent& member);
  void LeaveGroup(std::size_t event);
  void ReleaseIfUnused(std::size_t event);
  void Release(std::size_t event);
  void SetOutput(SpecEvent& event, std::optional<unsigned> other, const SpecResult& result);
  void Detach(std::size_t ring);

  Interval Total(const SpecEvent& event, bool running) const;
  void JudgeTimes(SpecEvent& event, std::uint64_t read_format, std::uint64_t enabled,
                  std::uint64_t running);
  void JudgeValue(SpecEvent& event, std::uint64_t value);
  void JudgeId(SpecEvent& event, std::uint64_t id, SpecCheck check = SpecCheck::kId);
  void JudgeLost(SpecEvent& event, std::uint64_t lost, std::string_view finding = {});

  struct Overflow {
    std::uint64_t at = 0;  // pulses or ticks since the stimulus began
    SpecRecord record;
  };
  void Signal(const SpecEvent& event, bool last);
  void SignalPerhaps(const SpecEvent& event);
  bool Counts(const SpecEvent& event, const SpecHappening& what, SpecRuns* runs) const;
  Interval Sampled(SpecEvent& event, const SpecHappening& what, std::uint64_t n,
                   std::vector<Overflow>& overflows);
  std::vector<Interval> ValuesAt(const SpecEvent& event, const SpecHappening& what,
                                 std::uint64_t events);

  std::size_t SampleSize(const SpecEvent& event) const;
  std::size_t TrailerSize(const SpecEvent& event) const;
  void Write(SpecRecord record);
  std::deque<SpecRecord>::iterator NextOf(std::deque<SpecRecord>& expected,
                                          const Record& record) const;
  void JudgeRecord(SpecRing& ring, const SpecRecord& expected, const Record& record);
  void JudgeSample(SpecRing& ring, const SpecRecord& expected, const Record& record);
  void JudgeTaskRecord(SpecRing& ring, const SpecRecord& expected, const Record& record);
  void JudgeTrailer(SpecRing& ring, const SpecEvent& event, const SampleId& trailer, SpecTask task);
  void JudgeTime(SpecRing& ring, std::uint64_t time);
  void WriteTaskRecords(std::uint32_t type, SpecTask from);

  SpecMachine machine_;
  SpecJudge* judge_;
  Moment now_;
  std::vector<SpecEvent> events_;
  std::vector<SpecRing> rings_;
  std::array<SpecSlot, kSpecSlots> slots_;
  std::array<SpecSignals, kSpecSlots> signals_;
  std::vector<std::size_t> child_events_;  // one entry for each descriptor of the child
  bool child_ = false;
  std::uint32_t self_ = 0, child_pid_ = 0;
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_SPEC_MODEL_H_
