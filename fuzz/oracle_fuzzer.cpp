// SPDX-License-Identifier: Apache-2.0
// The errno model is total, stable, and monotone in the caller's rights. Its parser agrees with an
// independent reading, and a call that opens an event violates no check.
#include <fuzzer/FuzzedDataProvider.h>
#include <linux/perf_event.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "oracle/open_driver.h"
#include "oracle/open_model.h"
#include "oracle/open_random.h"
#include "property.h"

namespace pmuconf::fuzz {
namespace {

constexpr std::uint32_t kOwnType = 40, kUncoreType = 41, kOpaqueType = 42;
constexpr std::uint64_t kTracepoint = 300;

// The bytes of the input are random; after their end all fields are valid.
class InputSource : public RandomSource {
 public:
  explicit InputSource(FuzzedDataProvider& data) : data_(data) {}
  std::uint64_t Bits(unsigned n) override {
    const std::uint64_t mask = n >= 64 ? ~0ull : (1ull << n) - 1;
    if (data_.remaining_bytes() == 0) return mask;
    return (n > 16 ? data_.ConsumeIntegral<std::uint64_t>()
                   : data_.ConsumeIntegral<std::uint16_t>()) &
           mask;
  }

 private:
  FuzzedDataProvider& data_;
};

OpenSystem AnySystem(FuzzedDataProvider& data) {
  OpenSystem system;
  system.behaviour = data.ConsumeBool() ? kLikeLinux612 : kLikeLinux61;
  system.known_registers = 0xffff'ffff'00ff'0fff;
  system.extended_registers = 0xffff'ffff'0000'0000;
  system.administrator = data.ConsumeBool();
  system.paranoid = data.ConsumeIntegralInRange(-1, 3);
  system.paranoid_any = data.ConsumeBool();
  system.lockdown = data.ConsumeIntegralInRange(0, 7) == 7;
  return system;
}

std::vector<OpenPmu> Pmus() {
  return {ReferencePmu(kOwnType),
          SoftwarePmu(),
          TracepointPmu({{.type = PERF_TYPE_TRACEPOINT, .config = kTracepoint}}),
          BreakpointPmu(),
          ReferenceUncorePmu(kUncoreType, true),
          OpaquePmu(kOpaqueType)};
}

// A model with the calls that are drawn for it. They are created once, since each reads its lists
// again.
struct ModelAndGenerator {
  ModelAndGenerator(const OpenSystem& system, const OpenPmu& target,
                    const std::vector<OpenPmu>& others)
      : model(system, target, others), generator(model) {}
  ModelAndGenerator(const ModelAndGenerator&) = delete;
  OpenModel model;
  OpenCallGenerator generator;
};

// One of the PMUs is the target.
const ModelAndGenerator& Cached(const OpenSystem& system, std::size_t first) {
  static std::map<std::tuple<bool, bool, int, bool, bool, std::size_t>, ModelAndGenerator> known;
  const std::tuple key{system.behaviour == kLikeLinux612,
                       system.administrator,
                       system.paranoid,
                       system.paranoid_any,
                       system.lockdown,
                       first};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  std::vector<OpenPmu> pmus = Pmus();
  const OpenPmu target = pmus[first];
  pmus.erase(pmus.begin() + static_cast<std::ptrdiff_t>(first));
  return known.try_emplace(key, system, target, pmus).first->second;
}

bool Same(const OpenPrediction& one, const OpenPrediction& other) {
  return one.error == other.error && one.check == other.check;
}

bool IsPermissionError(int error) { return error == EACCES || error == EPERM; }

void CheckPrediction(const OpenPrediction& prediction) {
  static const std::set<int> kErrors = {E2BIG,  EACCES, EBADF,      EFAULT, EINVAL, EMFILE,
                                        ENODEV, ENOENT, EOPNOTSUPP, EPERM,  ESRCH,  EOVERFLOW};
  PROPERTY((prediction.error == 0) == (prediction.check == nullptr), "a refusal has a reason");
  if (prediction.check == nullptr) return;
  PROPERTY(kErrors.contains(prediction.error), "the errno is one that the call can give");
  PROPERTY(!prediction.check->name.empty() && !prediction.check->rule.empty(),
           "a reason has a name and a rule");
  PROPERTY(!prediction.check->choice.empty() || prediction.check->error == prediction.error,
           "the errno is that of the check");
}

// The errno for the attr alone, by an independent reading; 0 if there is none.
int Parsed(const OpenSystem& system, bool recent, const OpenCall& call) {
  std::array<std::byte, 256> bytes = {};
  perf_event_attr attr = {};
  if (call.readable < 8) return EFAULT;
  std::uint32_t given = 0;
  std::memcpy(&given, &call.attr[4], sizeof(given));
  const std::size_t size = given == 0 ? 64 : given;
  const std::size_t known = recent ? 136 : 128;
  if (size < 64 || size > 4'096) return E2BIG;
  for (std::size_t i = known; i < std::min(size, call.readable); ++i) {
    if (call.attr[i] != std::byte{0}) return E2BIG;
  }
  if (size > call.readable) return EFAULT;
  std::copy_n(call.attr.begin(), std::min(size, known), bytes.begin());
  std::memcpy(&attr, bytes.data(), 128);
  std::uint32_t last = 0;
  std::memcpy(&last, &bytes[116], sizeof(last));
  const auto has = [&attr](std::uint64_t type) { return (attr.sample_type & type) != 0; };
  if ((std::to_integer<unsigned>(bytes[44]) >> 6) != 0) return EINVAL;
  for (const std::size_t i : {45, 46, 47}) {
    if (bytes[i] != std::byte{0}) return EINVAL;
  }
  if (attr.__reserved_2 != 0 || (recent ? last > 7 : last != 0)) return EINVAL;
  if (attr.sample_type >= 1u << 25 || attr.read_format >= 1u << 5) return EINVAL;
  if (has(PERF_SAMPLE_BRANCH_STACK)) {
    const std::uint64_t branches = attr.branch_sample_type;
    if (branches >= 1ull << (recent ? 20 : 19) || branches < 8) return EINVAL;
    const bool kernel =
        (branches & 7) != 0 ? (branches & 6) != 0 : !attr.exclude_kernel || !attr.exclude_hv;
    if (kernel && !system.administrator && system.paranoid > 1) return EACCES;
  }
  const auto bad = [&system](std::uint64_t registers) {
    return registers == 0 || (registers | system.known_registers) != system.known_registers;
  };
  if (has(PERF_SAMPLE_REGS_USER) && bad(attr.sample_regs_user)) return EINVAL;
  if (has(PERF_SAMPLE_STACK_USER) &&
      (attr.sample_stack_user > 65'534 || (attr.sample_stack_user & 7) != 0)) {
    return EINVAL;
  }
  const bool weights = has(PERF_SAMPLE_WEIGHT) && has(PERF_SAMPLE_WEIGHT_STRUCT);
  if (weights || (attr.inherit_thread && !attr.inherit)) return EINVAL;
  if ((attr.remove_on_exec && attr.enable_on_exec) || (attr.sigtrap && !attr.remove_on_exec)) {
    return EINVAL;
  }
  return has(PERF_SAMPLE_REGS_INTR) && bad(attr.sample_regs_intr) ? EINVAL : 0;
}

void CheckParser(const OpenModel& model, bool recent, const OpenCall& call,
                 const OpenPrediction& prediction) {
  if ((call.flags & ~15ul) != 0) {
    PROPERTY(prediction.error == EINVAL, "an unknown flag is checked first");
    return;
  }
  const int parsed = Parsed(model.system(), recent, call);
  const bool parser = prediction.check != nullptr && prediction.check->parser;
  PROPERTY(parser == (parsed != 0), "the parser refuses what a second reading refuses");
  if (!parser) return;
  PROPERTY(prediction.error == parsed, "with the same errno");
  OpenCall other = call;
  other.who = OpenWho::kNoTask;
  other.cpu = OpenCpu::kInvalid;
  other.group = OpenGroup::kClosed;
  PROPERTY(Same(model.Predict(other), prediction), "the parser depends only on the attr");
  PROPERTY(Same(model.PredictModify(call), prediction), "modifying an event has the same parser");
}

// Bytes that the kernel ignores do not change the answer.
void CheckIgnored(const OpenModel& model, const OpenCall& call, const OpenPrediction& prediction) {
  OpenCall other = call;
  const std::uint32_t given = call.Attr().size;
  for (std::size_t i = given == 0 ? 64 : given; i >= 64 && i < other.attr.size(); ++i) {
    other.attr[i] ^= std::byte{0x5a};
  }
  other.Edit([](perf_event_attr& attr) {
    const auto has = [&attr](std::uint64_t type) { return (attr.sample_type & type) != 0; };
    attr.wakeup_events ^= 77;
    attr.watermark ^= 1;
    if (!has(PERF_SAMPLE_BRANCH_STACK)) attr.branch_sample_type ^= 1ull << 40;
    if (!has(PERF_SAMPLE_STACK_USER)) attr.sample_stack_user ^= 3;
    if (!has(PERF_SAMPLE_CALLCHAIN)) attr.sample_max_stack ^= 0x7fff;
    if (!attr.use_clockid) attr.clockid ^= 5;
  });
  PROPERTY(Same(model.Predict(other), prediction), "ignored bytes do not change the answer");
}

// More rights never cause a refusal, and change only the errors about rights.
void CheckRights(const OpenSystem& system, std::size_t first, const OpenCall& call,
                 const OpenPrediction& prediction) {
  OpenSystem more = system;
  more.administrator = true;
  const OpenPrediction all = Cached(more, first).model.Predict(call);
  PROPERTY(all.error != EACCES, "an administrator gets no error about rights");
  PROPERTY(all.error != EPERM || system.lockdown, "an administrator gets no error about rights");
  if (!IsPermissionError(prediction.error))
    PROPERTY(Same(all, prediction), "rights change only errors about rights");

  if (system.paranoid == -1) return;
  more = system;
  --more.paranoid;
  const OpenPrediction looser = Cached(more, first).model.Predict(call);
  if (!IsPermissionError(prediction.error))
    PROPERTY(Same(looser, prediction), "a less strict setting refuses nothing new");
}

bool KnownEvent(const perf_event_attr& attr) {
  switch (attr.type) {
    case PERF_TYPE_HARDWARE:
      return (attr.config & 0xffff'ffff) < 10;
    case PERF_TYPE_SOFTWARE:
      return attr.config < 12;
    case PERF_TYPE_TRACEPOINT:
      return attr.config == kTracepoint;
    case PERF_TYPE_HW_CACHE:
      return (attr.config & 0xff) < 7 && (attr.config >> 8 & 0xff) < 3;
    case PERF_TYPE_BREAKPOINT:
      return attr.bp_type >= 2 && attr.bp_type <= 4 && std::has_single_bit(attr.bp_len);
    default:
      return attr.type == PERF_TYPE_RAW || attr.type == kOwnType || attr.type == kUncoreType;
  }
}

// An event that opens violates none of these checks.
void CheckOpened(const OpenSystem& system, const perf_event_attr& attr, const OpenCall& call) {
  const bool cgroup = (call.flags & PERF_FLAG_PID_CGROUP) != 0;
  const bool task = !cgroup && call.who != OpenWho::kAllTasks;
  const bool fd = call.group != OpenGroup::kNone;
  const bool grouped = fd && (call.flags & PERF_FLAG_FD_NO_GROUP) == 0;
  const bool output = fd && (call.flags & PERF_FLAG_FD_OUTPUT) != 0;
  const bool kernel = !attr.exclude_kernel || attr.text_poke;
  PROPERTY(KnownEvent(attr), "an event that opens belongs to a PMU");
  PROPERTY(system.administrator || !kernel || system.paranoid < 2, "the kernel needs rights");
  PROPERTY(system.administrator || task || system.paranoid < 1, "a CPU needs rights");
  PROPERTY(system.administrator || !attr.namespaces, "namespaces need rights");
  PROPERTY(attr.sample_period <= (attr.freq ? system.max_sample_rate : INT64_MAX),
           "a period has 63 bits, a frequency a limit");
  PROPERTY(task || call.cpu != OpenCpu::kAny, "an event has a task or a CPU");
  PROPERTY(call.cpu != OpenCpu::kInvalid, "a CPU is a possible one");
  PROPERTY(!task || (call.who != OpenWho::kNoTask && call.who != OpenWho::kExited),
           "a task is alive");
  PROPERTY(!cgroup || call.who == OpenWho::kCgroup, "a cgroup event has a cgroup");
  PROPERTY(!fd || (call.group != OpenGroup::kClosed && call.group != OpenGroup::kFile),
           "a leader is an event");
  PROPERTY(!grouped || !(attr.pinned || attr.exclusive), "only leaders are pinned or exclusive");
  PROPERTY(
      !grouped || (call.group != OpenGroup::kSibling && call.group != OpenGroup::kReadSizeLimit),
      "a leader leads, and its group has room");
  PROPERTY(!grouped || attr.use_clockid == 0, "a group has one clock");
  PROPERTY(!output || call.group == OpenGroup::kBuffer, "output goes to a buffer");
  PROPERTY(!attr.sigtrap || task, "a signal has a task");
  PROPERTY(call.descriptors_available, "an event needs a descriptor");
  PROPERTY(!system.lockdown || (attr.sample_type & PERF_SAMPLE_REGS_INTR) == 0,
           "a kernel that is locked down shows no registers");
}

void CheckOne(const std::uint8_t* bytes, std::size_t n) {
  FuzzedDataProvider data(bytes, n);
  const OpenSystem system = AnySystem(data);
  const bool recent = system.behaviour == kLikeLinux612;
  const auto first = data.ConsumeIntegralInRange<std::size_t>(0, 4);
  const OpenCallKind kind = data.ConsumeBool() ? OpenCallKind::kMutated : OpenCallKind::kRandom;
  const ModelAndGenerator& cached = Cached(system, first);
  const OpenModel& model = cached.model;
  InputSource random(data);
  const OpenCall call = cached.generator.Call(kind, random);
  const OpenPrediction prediction = model.Predict(call);
  PROPERTY(Same(model.Predict(call), prediction), "the same call has the same answer");
  CheckPrediction(prediction);
  CheckPrediction(model.PredictModify(call));
  PROPERTY(model.PredictModify(call).error != 0, "these events cannot be modified");
  CheckParser(model, recent, call, prediction);
  CheckIgnored(model, call, prediction);
  CheckRights(system, first, call, prediction);
  if (prediction.check != nullptr) return;
  perf_event_attr attr = call.Attr();
  const std::size_t size = attr.size == 0 ? 64 : attr.size;
  if (size < 128) std::memset(reinterpret_cast<char*>(&attr) + size, 0, 128 - size);
  CheckOpened(system, attr, call);
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pmuconf::fuzz::CheckOne(data, size);
  return 0;
}
