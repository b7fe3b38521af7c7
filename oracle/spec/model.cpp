// SPDX-License-Identifier: Apache-2.0
// Events and descriptors: opening, closing, controlling. Rules: CTL-001 to CTL-019, GRP-002,
// GRP-004, GRP-008, GRP-009, GRP-013, GRP-014, INH-011, INH-012, RDF-015, RB-017, SIG-012.
#include "oracle/spec/model.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "text/errno_name.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kTopBit = 1ull << 63;
// Findings without a waiver.
constexpr std::string_view kMovedGroup = "moved group", kFreedMember = "freed member";
constexpr std::array<std::string_view, 8> kStates = {"none",    "off",    "held",   "on",
                                                     "waiting", "unsure", "exited", "copied"};

std::string Name(int error) { return error == 0 ? "0" : ErrnoName(error); }

}  // namespace

std::span<const std::string_view> SpecModel::States() { return kStates; }

std::string_view SpecModel::StateOf(unsigned slot) const {
  if (!slots_[slot].event) return "none";
  const SpecEvent& event = events_[*slots_[slot].event];
  if (event.task_exited) return "exited";
  if (event.unsure) return "unsure";
  if (!event.on) return "off";
  if (!Enabled(event)) return "held";
  if (event.copied) return "copied";
  return event.times.runs == SpecRuns::kMaybe ? "waiting" : "on";
}

SpecEvent* SpecModel::At(unsigned slot) {
  return slots_[slot].event ? &events_[*slots_[slot].event] : nullptr;
}

void SpecModel::Open(unsigned slot, const SpecOpen& call, const SpecResult& result) {
  const SpecEvent* leader = call.grouped ? At(call.leader) : nullptr;
  if (call.valid) {
    bool fits = true;
    if (call.kind.hardware()) {
      // The new event is tried with its leader and the enabled members.
      SpecEvent trial;
      trial.kind = call.kind;
      trial.alive = false;
      trial.leader = events_.size();
      std::vector<std::size_t> members = {events_.size()};
      if (leader != nullptr) {
        members.push_back(leader->leader);
        for (const std::size_t i : events_[leader->leader].siblings) {
          if (events_[i].on || machine_.disabled_members_need_room) members.push_back(i);
        }
      }
      const std::size_t group = leader != nullptr ? leader->leader : 0;
      events_.push_back(trial);
      fits = Fit({}, members);
      events_.pop_back();
      leader = call.grouped ? &events_[group] : nullptr;
    }
    const int predicted = fits ? 0 : EINVAL;
    judge_->Expect(call.grouped ? SpecCheck::kGroupFits : SpecCheck::kOpens,
                   predicted == result.error, Name(predicted), Name(result.error));
  } else {
    judge_->CannotJudge(SpecCheck::kOpens);
  }
  if (result.error != 0) return;
  SpecEvent event;
  event.attr = call.attr;
  event.kind = call.kind;
  event.task = call.task;
  event.any_cpu = call.any_cpu;
  event.on = !call.attr.disabled;
  event.descriptors = 1;
  event.period = call.attr.freq ? 0 : call.attr.sample_period;
  if (event.period != 0) event.left = event.period;
  const std::size_t index = events_.size();
  event.leader = call.grouped && leader != nullptr ? leader->leader : index;
  event.competes = call.kind.hardware();
  const SpecSlot before = std::exchange(slots_[slot], SpecSlot{});
  events_.push_back(std::move(event));
  if (events_[index].leader != index) {
    NoteMove(events_[index]);
    events_[events_[index].leader].siblings.push_back(index);
    Leader(events_[index]).competes |= call.kind.hardware();
    // A copy of the group lacks the new member.
    if (events_[events_[index].leader].copied) events_[index].unsure = true;
  }
  slots_[slot].event = index;
  StandStill(events_[index]);
  Schedule(TriedWith(events_[index]));
  // Then the program closes the event that the slot had.
  if (before.mapping) {
    slots_[slot].mapping = before.mapping;
    slots_[slot].mapped_event = before.mapped_event;
    Unmap(slot, {});
  }
  if (before.event) {
    --events_[*before.event].descriptors;
    ReleaseIfUnused(*before.event);
  }
  Schedule({});
}

// A member of another software PMU may not start when its leader runs: CORE-9.
// The first hardware member moves its group to another context. Against GRP-003, each event of the
// group then gets the state in which it was opened: kMovedGroup.
void SpecModel::NoteMove(const SpecEvent& member) {
  const std::vector<std::size_t> group = GroupOf(member);
  if (Leader(member).competes) return;
  if (!member.kind.hardware()) {
    if (member.kind.pmu != Leader(member).kind.pmu) events_[IndexOf(member)].finding = "CORE-9";
    return;
  }
  const auto opened_on = [this](std::size_t i) { return !events_[i].attr.disabled; };
  const bool changed = std::any_of(group.begin(), group.end(),
                                   [&](std::size_t i) { return events_[i].on != opened_on(i); });
  // The group does not count while it moves.
  for (const std::size_t i : group) events_[i].on = false;
  Schedule({});
  for (const std::size_t i : group) {
    events_[i].on = opened_on(i);
    // Its enabled time goes on while it moves.
    events_[i].times.behind.reset();
    if (changed) events_[i].finding = kMovedGroup;
  }
}

void SpecModel::Close(unsigned slot, const SpecResult& result) {
  const std::optional<std::size_t> event = std::exchange(slots_[slot].event, std::nullopt);
  const int predicted = event ? 0 : EBADF;
  judge_->Expect(SpecCheck::kResult, result.error == predicted, Name(predicted),
                 Name(result.error));
  if (!event) return;
  --events_[*event].descriptors;
  ReleaseIfUnused(*event);
  Schedule({});
}

void SpecModel::Duplicate(unsigned slot, unsigned to, const SpecResult& result) {
  const std::optional<std::size_t> event = slots_[slot].event;
  const int predicted = !event ? EBADF : slots_[to].event || slots_[to].mapping ? EBUSY : 0;
  judge_->Expect(SpecCheck::kResult, result.error == predicted, Name(predicted),
                 Name(result.error));
  if (predicted != 0 || result.error != 0) return;
  slots_[to].event = event;
  ++events_[*event].descriptors;
}

void SpecModel::ReleaseIfUnused(std::size_t event) {
  if (events_[event].descriptors == 0 && events_[event].mappings == 0) Release(event);
}

void SpecModel::Release(std::size_t index) {
  SpecEvent& event = events_[index];
  if (!event.alive) return;
  LeaveGroup(index);
  event.alive = event.on = event.copied = false;
  event.ring.reset();
}

void SpecModel::LeaveGroup(std::size_t index) {
  SpecEvent& event = events_[index];
  const bool led = event.leader == index;
  if (led) {
    for (const std::size_t i : std::exchange(event.siblings, {})) {
      SpecEvent& sibling = events_[i];
      sibling.leader = i;
      sibling.competes = event.competes;
      sibling.former_member = true;
      sibling.orphan = true;
      if (sibling.on && !event.on) sibling.time_finding = kFreedMember;
    }
  } else {
    std::vector<std::size_t>& siblings = events_[event.leader].siblings;
    siblings.erase(std::find(siblings.begin(), siblings.end(), index));
    event.leader = index;
  }
}

SpecModel::Tried SpecModel::Enable(SpecEvent& event) {
  // The error state ends, but whether the event now has a counter is not known.
  const bool before = Enabled(event);
  event.on = true;
  StandStill(event);
  return before ? Tried{} : TriedWith(event);
}

void SpecModel::Reset(SpecEvent& event) {
  const bool counting = event.counted_since.has_value();
  if (counting) event.counted_since = now_;
  event.count = event.kept;
}

void SpecModel::Apply(SpecEvent& event, bool group, const std::function<void(SpecEvent&)>& act) {
  if (!group) return act(event);
  for (const std::size_t i : GroupOf(event)) act(events_[i]);
}

void SpecModel::Ioctl(unsigned slot, unsigned long request, std::uint64_t argument, unsigned other,
                      const SpecResult& result) {
  SpecEvent* const event = At(slot);
  const auto expect = [&](SpecCheck check, int predicted) {
    judge_->Expect(check, result.error == predicted, Name(predicted), Name(result.error));
    return predicted == 0 && result.error == 0;
  };
  if (event == nullptr) {
    expect(SpecCheck::kResult, EBADF);
    return;
  }
  const bool group = (argument & PERF_IOC_FLAG_GROUP) != 0;
  Tried tried;
  switch (request) {
    case PERF_EVENT_IOC_ENABLE:
      if (!expect(SpecCheck::kResult, 0)) return;
      Apply(*event, group, [&](SpecEvent& each) { tried.Add(Enable(each)); });
      break;
    case PERF_EVENT_IOC_DISABLE:
      if (!expect(SpecCheck::kResult, 0)) return;
      Apply(*event, group, [this](SpecEvent& each) { Disable(each); });
      break;
    case PERF_EVENT_IOC_RESET:
      if (!expect(SpecCheck::kResult, 0)) return;
      Apply(*event, group, [this](SpecEvent& each) { Reset(each); });
      break;
    case PERF_EVENT_IOC_REFRESH: {
      const bool refused = event->attr.inherit || event->attr.sample_period == 0;
      if (!expect(SpecCheck::kRefresh, refused ? EINVAL : 0)) return;
      event->limit += static_cast<std::uint32_t>(argument);
      tried = Enable(*event);
      break;
    }
    case PERF_EVENT_IOC_PERIOD: {
      const bool refused =
          event->attr.sample_period == 0 || argument == 0 || (argument & kTopBit) != 0;
      if (!expect(SpecCheck::kPeriod, refused ? EINVAL : 0)) return;
      if (event->attr.freq) return;
      event->period = event->attr.sample_period = argument;
      event->left = argument;
      return;
    }
    case PERF_EVENT_IOC_SET_OUTPUT:
      SetOutput(*event, slots_[other].event ? std::optional<unsigned>(other) : std::nullopt,
                result);
      return;
    case PERF_EVENT_IOC_PAUSE_OUTPUT: {
      const bool has = event->ring && rings_[*event->ring].size > 0;
      if (expect(SpecCheck::kPause, has ? 0 : EINVAL)) {
        rings_[*event->ring].paused = argument != 0;
      }
      return;
    }
    case PERF_EVENT_IOC_ID:
      if (expect(SpecCheck::kResult, 0)) {
        JudgeId(*event, static_cast<std::uint64_t>(result.value));
      }
      return;
    default:
      judge_->CannotJudge(SpecCheck::kResult);
      event->unsure = true;
      return;
  }
  Schedule(tried);
}

void SpecModel::SetOutput(SpecEvent& event, std::optional<unsigned> other,
                          const SpecResult& result) {
  int predicted = 0;
  std::optional<std::size_t> ring;
  if (other) {
    const SpecEvent& target = *At(*other);
    ring = target.ring;
    const bool same_place = event.task == target.task && event.any_cpu == target.any_cpu &&
                            event.attr.type == target.attr.type;
    const bool plain = same_place && event.attr.inherit == target.attr.inherit &&
                       !event.task_exited && !target.task_exited;
    if (!plain && &event != &target) {
      // Some kernels have a context for each kind of PMU.
      judge_->CannotJudge(SpecCheck::kOutput);
      if (result.error != 0) return;
    } else if (&event == &target || !ring) {
      predicted = EINVAL;
    }
  }
  if (event.mappings > 0) predicted = EINVAL;
  judge_->Expect(SpecCheck::kOutput, result.error == predicted, Name(predicted),
                 Name(result.error));
  if (result.error != 0) return;
  event.ring = ring;
}

void SpecModel::SwitchTasks(bool enable, const SpecResult& result) {
  judge_->Expect(SpecCheck::kResult, result.error == 0, "0", Name(result.error));
  if (result.error != 0) return;
  Tried tried;
  for (SpecEvent& event : events_) {
    if (!event.alive) continue;
    if (enable) {
      tried.Add(Enable(event));
    } else {
      Disable(event);
    }
  }
  Schedule(tried);
}

void SpecModel::Map(unsigned slot, std::size_t pages, bool writable, const SpecResult& result) {
  SpecEvent* const event = At(slot);
  int predicted = 0;
  SpecCheck check = SpecCheck::kMap;
  const bool redirected = event != nullptr && event->ring && event->mappings == 0;
  if (slots_[slot].mapping) {
    predicted = EBUSY;  // the program has one mapping for each slot
  } else if (event == nullptr) {
    predicted = EBADF;
  } else if (event->attr.inherit && event->any_cpu) {
    predicted = EINVAL;
    check = SpecCheck::kMapInherited;
  } else if (event->ring && rings_[*event->ring].size != pages * machine_.page_size) {
    predicted = EINVAL;
  }
  if (redirected && predicted != EBUSY) {
    // Kernels differ: RB-028.
    judge_->CannotJudge(check);
    if (result.error != 0) return;
  } else {
    judge_->Expect(check, result.error == predicted, Name(predicted), Name(result.error));
  }
  if (result.error != 0 || event == nullptr) return;
  if (!event->ring) {
    SpecRing ring;
    ring.owner = IndexOf(*event);
    ring.size = pages * machine_.page_size;
    ring.writable = writable;
    ring.watermark = ring.size / 2;
    if (event->attr.watermark && event->attr.wakeup_watermark != 0) {
      ring.watermark = std::min<std::uint64_t>(ring.size, event->attr.wakeup_watermark);
    }
    event->ring = rings_.size();
    rings_.push_back(std::move(ring));
  }
  ++rings_[*event->ring].mappings;
  ++event->mappings;
  slots_[slot].mapping = event->ring;
  slots_[slot].mapped_event = IndexOf(*event);
}

void SpecModel::Unmap(unsigned slot, const SpecResult& result) {
  const std::optional<std::size_t> ring = std::exchange(slots_[slot].mapping, std::nullopt);
  const int predicted = ring ? 0 : ENOENT;
  judge_->Expect(SpecCheck::kMap, result.error == predicted, Name(predicted), Name(result.error));
  if (!ring) return;
  const std::size_t event = slots_[slot].mapped_event;
  --events_[event].mappings;
  if (--rings_[*ring].mappings == 0) Detach(*ring);
  ReleaseIfUnused(event);
  Schedule({});
}

// The last mapping went: the writers have no buffer any more.
void SpecModel::Detach(std::size_t ring) {
  for (SpecEvent& event : events_) {
    if (event.ring == ring) event.ring.reset();
  }
}

void SpecModel::SendSignals(unsigned slot, const SpecResult& result) {
  SpecEvent* const event = At(slot);
  const int predicted = event == nullptr ? EBADF : 0;
  judge_->Expect(SpecCheck::kResult, result.error == predicted, Name(predicted),
                 Name(result.error));
  if (event != nullptr && result.error == 0) event->signals = slot;
}

void SpecModel::Poll(unsigned slot, const SpecResult& result) {
  SpecEvent* const event = At(slot);
  constexpr std::uint64_t kIn = 0x001, kError = 0x008, kHangUp = 0x010, kNoFile = 0x020,
                          kReadNormal = 0x040;
  const auto events = static_cast<std::uint64_t>(result.value);
  if (event == nullptr) {
    // The program polls no descriptor, or one that is closed.
    judge_->Expect(SpecCheck::kPoll, events == 0 || events == kNoFile, "0", std::to_string(events));
    return;
  }
  if (event->unsure || event->attr.pinned) {
    judge_->CannotJudge(SpecCheck::kPoll);
    if ((events & kIn) != 0 && event->ring) rings_[*event->ring].wake = false;
    return;
  }
  if (event->task_exited || !event->ring) {
    judge_->Compare(SpecCheck::kPollNoBuffer, {kHangUp, kHangUp}, events, "events");
    return;
  }
  SpecRing& ring = rings_[*event->ring];
  if (ring.unsure) {
    judge_->CannotJudge(SpecCheck::kPoll);
  } else {
    const std::uint64_t readable =
        kIn | (machine_.poll_reports_rdnorm ? kReadNormal : std::uint64_t{0});
    const std::uint64_t predicted = ring.wake ? readable : 0;
    judge_->Compare(SpecCheck::kPoll, {predicted, predicted}, events & ~kError, "events");
  }
  ring.wake = false;
}

void SpecModel::Fork(const SpecResult& result) {
  const int predicted = child_ ? EBUSY : 0;
  judge_->Expect(SpecCheck::kResult, result.error == predicted, Name(predicted),
                 Name(result.error));
  if (child_ || result.error != 0) return;
  child_ = true;
  child_pid_ = static_cast<std::uint32_t>(result.value);
  for (SpecSlot& slot : slots_) {
    if (!slot.event) continue;
    child_events_.push_back(*slot.event);
    ++events_[*slot.event].descriptors;
  }
  for (SpecEvent& event : events_) {
    if (!event.alive || event.task != SpecTask::kSelf || !Leader(event).attr.inherit) continue;
    event.copied = event.exchanged = true;
    event.copy_times = {};
  }
  WriteTaskRecords(PERF_RECORD_FORK, SpecTask::kSelf);
  Schedule({});
}

// Rules: CTL-025, INH-013, INH-014.
void SpecModel::ChildExecs() {
  if (!child_) return;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    SpecEvent& event = events_[i];
    if (!event.alive || event.task_exited) continue;
    const bool changes = event.attr.enable_on_exec || event.attr.remove_on_exec;
    // The copy of an inherited event then differs from its parent.
    if (event.copied && changes) event.unsure = true;
    if (event.task != SpecTask::kChild) continue;
    if (event.attr.remove_on_exec) {
      LeaveGroup(i);
      Change(event.times, false, SpecRuns::kNever, SpecTask::kChild);
      AddSoftwareCount(event);
      event.task_exited = true;
    } else if (event.attr.enable_on_exec) {
      event.on = true;
    }
    event.attr.enable_on_exec = 0;
  }
  Schedule({});
  // The new program runs, which takes time, and reads its first page.
  for (SpecEvent& event : events_) {
    if (event.task != SpecTask::kChild || !Enabled(event)) continue;
    event.times.enabled.low += 1;
    if (event.times.runs != SpecRuns::kYes) continue;
    event.times.running.low += 1;
    const bool all = !event.attr.exclude_user && !event.attr.exclude_kernel;
    if (event.kind.source == SpecSource::kFaults && all) event.count.low += 1;
  }
}

void SpecModel::ChildExits() {
  if (!child_) return;
  WriteTaskRecords(PERF_RECORD_EXIT, SpecTask::kChild);
  for (SpecEvent& event : events_) {
    if (!event.alive) continue;
    if (event.task == SpecTask::kChild) {
      Change(event.times, false, SpecRuns::kNever, SpecTask::kChild);
      AddSoftwareCount(event);
      event.task_exited = true;
    }
    if (!event.copied) continue;
    // The exit sends a signal that is still due.
    SignalPerhaps(event);
    Change(event.copy_times, false, SpecRuns::kNever, SpecTask::kChild);
    event.ended_enabled.Add(event.copy_times.enabled);
    event.ended_running.Add(event.copy_times.running);
    event.times.behind.reset();
    event.copied = false;
    // Tasks with equal events exchange them, so the child may have counted for its parent.
    event.kept.high = event.counted_since ? Interval::kUnbounded : event.count.high;
  }
  child_ = false;
  for (const std::size_t event : std::exchange(child_events_, {})) {
    --events_[event].descriptors;
    ReleaseIfUnused(event);
  }
  Schedule({});
}

}  // namespace pmuconf
