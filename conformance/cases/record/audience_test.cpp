// SPDX-License-Identifier: Apache-2.0
// Which events get side-band records: enabled ones that request them, for the tasks and CPUs that
// they follow.
#include <sys/mman.h>
#include <sys/prctl.h>

#include <memory>
#include <set>

#include "cases/record/side_band.h"

namespace pmuconf {
namespace {

void RequestComm(perf_event_attr& attr) { attr.comm = 1; }

// Changes the task's name, creates a child, and maps executable and read-only memory. So there is a
// cause for each record that the events below request.
void CauseSideBandRecords() {
  prctl(PR_SET_NAME, "named");
  Child child([] { return 0; });
  child.Run();
  for (const int protection : {PROT_READ | PROT_EXEC, PROT_READ}) {
    munmap(mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  }
}

// The types of `records`, without duplicates.
std::set<std::uint32_t> TypesOf(const std::vector<Record>& records) {
  std::set<std::uint32_t> types;
  for (const Record& record : records) types.insert(record.type);
  return types;
}

CONFORMANCE_CASE(Record, EventsReceiveRequestedRecordsOnly, .rules = {rule::REC_119},
                 .needs = {Cap::kTasks}) {
  using Types = std::set<std::uint32_t>;
  SideBand nothing([](perf_event_attr&) {});
  SideBand names(RequestComm);
  SideBand tasks([](perf_event_attr& attr) { attr.task = 1; });
  SideBand code([](perf_event_attr& attr) { attr.mmap = 1; });
  SideBand data([](perf_event_attr& attr) { attr.mmap_data = 1; });
  SideBand switches([](perf_event_attr& attr) { attr.context_switch = 1; });
  SideBand symbols([](perf_event_attr& attr) { attr.ksymbol = 1; });
  CauseSideBandRecords();
  const auto types_of = [](SideBand& side_band) { return TypesOf(side_band.DrainRaw()); };
  // An event that requests names or mappings also gets FORK records, because a new task starts with
  // a copy of both. No event follows the child, so there is no EXIT record.
  EXPECT_EQ(types_of(nothing), Types{});
  EXPECT_EQ(types_of(names), (Types{PERF_RECORD_COMM, PERF_RECORD_FORK}));
  EXPECT_EQ(types_of(tasks), Types{PERF_RECORD_FORK});
  EXPECT_EQ(types_of(code), (Types{PERF_RECORD_MMAP, PERF_RECORD_FORK}));
  EXPECT_EQ(types_of(data), (Types{PERF_RECORD_MMAP, PERF_RECORD_FORK}));
  EXPECT_EQ(types_of(switches), Types{PERF_RECORD_SWITCH});
  EXPECT_EQ(types_of(symbols), Types{});
}

CONFORMANCE_CASE(Record, EventsReceiveRecordsOfOwnTaskOnly, .rules = {rule::REC_119},
                 .needs = {Cap::kTasks}) {
  Child child([] {
    prctl(PR_SET_NAME, "child");
    return 0;
  });
  SideBand own(RequestComm);
  SideBand of_child(RequestComm, {.pid = child.pid()});
  prctl(PR_SET_NAME, "parent");
  EXPECT_EQ(own.DrainRaw(PERF_RECORD_COMM).size(), 1u);
  EXPECT_THAT(of_child.DrainRaw(), testing::IsEmpty());
  const pid_t pid = child.pid();
  ASSERT_EQ(child.Run(), 0);
  EXPECT_THAT(own.DrainRaw(), testing::IsEmpty());
  const std::vector<Record> records = of_child.DrainRaw();
  ASSERT_EQ(TypesOf(records), (std::set<std::uint32_t>{PERF_RECORD_COMM, PERF_RECORD_EXIT}));
  for (const Record& record : records) {
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 0), Unsigned(pid));
  }
}

CONFORMANCE_CASE(Record, DisabledEventReceivesNoRecords, .rules = {rule::REC_119},
                 .needs = {Cap::kTasks}) {
  SideBand side_band(RequestComm);
  side_band.event().Disable();
  prctl(PR_SET_NAME, "off");
  EXPECT_THAT(side_band.DrainRaw(), testing::IsEmpty());
  side_band.event().Enable();
  prctl(PR_SET_NAME, "on");
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_COMM);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(NameAt(records[0], 8), "on");
}

CONFORMANCE_CASE(Record, DummyReceivesRecordsWhileCounterIsOff, .rules = {rule::REC_120},
                 .needs = {Cap::kTasks}) {
  const Event counter = Open(target().AnyEvent());
  SideBand dummy(Software(PERF_COUNT_SW_DUMMY), RequestComm);
  for (const char* name : {"before", "while", "after"}) {
    prctl(PR_SET_NAME, name);
    const std::vector<Record> records = dummy.DrainRaw(PERF_RECORD_COMM);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(NameAt(records[0], 8), name);
    if (name[0] == 'b') counter.Enable();
    if (name[0] == 'w') counter.Disable();
  }
}

CONFORMANCE_CASE(Record, CpuDummyReceivesRecordsOfItsCpu, .rules = {rule::REC_120},
                 .needs = {Cap::kCpus2, Cap::kTasks}) {
  const Event counter =
      Open(target().AnyEvent(), {.pid = -1, .cpu = target().Cpu(0), .disabled = false});
  std::vector<std::unique_ptr<SideBand>> dummies;
  for (const std::size_t i : {0, 1}) {
    dummies.push_back(std::make_unique<SideBand>(Software(PERF_COUNT_SW_DUMMY), RequestComm,
                                                 OpenOptions{.pid = -1, .cpu = target().Cpu(i)}));
  }
  for (const std::size_t i : {1, 0, 1}) {
    PinTo(target().Cpu(i));
    const std::string name = "on-cpu-" + std::to_string(i);
    prctl(PR_SET_NAME, name.c_str());
    const auto of_this_task = [&](std::size_t cpu) {
      std::vector<Record> records = dummies[cpu]->DrainRaw();
      std::erase_if(records, [](const Record& record) {
        return record.type != PERF_RECORD_COMM || TrailerTid(record) != Unsigned(gettid());
      });
      return records;
    };
    EXPECT_THAT(of_this_task(1 - i), testing::IsEmpty());
    const std::vector<Record> here = of_this_task(i);
    ASSERT_EQ(here.size(), 1u);
    EXPECT_EQ(NameAt(here[0], 8), name);
    ExpectTrailer(here[0], dummies[i]->event(), gettid());
  }
}

}  // namespace
}  // namespace pmuconf
