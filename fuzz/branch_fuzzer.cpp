// SPDX-License-Identifier: Apache-2.0
// core/branch: an entry is kept if and only if the filter selects it, and no data is invented.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <vector>

#include "property.h"

extern "C" {
#include "core/branch.h"
}

namespace pmuconf::fuzz {
namespace {

constexpr unsigned kMaxEntries = 64;
constexpr u64 kKernelBit = u64{1} << 63;

bool Has(u64 filter, u64 bit) { return (filter & bit) != 0; }

// The documented values of perf_event_open(2), one request at a time.
bool KindSelected(const refpmu_pebs_lbr& entry, u64 filter) {
  const unsigned type = entry.info >> 56 & 15;
  const bool jcc = type == 0;
  const bool ind_jump = type == 1;
  const bool ind_call = type == 3;
  const bool call = type == 4;
  const bool far = type > 5;
  const bool back = far && (entry.from & kKernelBit) != 0 && (entry.to & kKernelBit) == 0;
  const u64 kinds = filter & 0x3cf8;  // bits 3 to 7 and 10 to 13
  if (kinds == 0 || Has(filter, REFPMU_WANT_BRANCH_ANY)) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_ANY_CALL) && (call || ind_call || (far && !back))) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_ANY_RETURN) && (type == 5 || back)) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_IND_CALL) && ind_call) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_ABORT_TX) && (entry.info >> 61 & 1) != 0) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_COND) && jcc) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_CALL_STACK) && (call || ind_call)) return true;
  if (Has(filter, REFPMU_WANT_BRANCH_IND_JUMP) && ind_jump) return true;
  return Has(filter, REFPMU_WANT_BRANCH_CALL) && call;
}

bool TransactionSelected(const refpmu_pebs_lbr& entry, u64 filter) {
  const bool in = Has(filter, REFPMU_WANT_BRANCH_IN_TX);
  const bool out = Has(filter, REFPMU_WANT_BRANCH_NO_TX);
  return in == out || in == ((entry.info >> 62 & 1) != 0);
}

bool PrivilegeSelected(const refpmu_pebs_lbr& entry, u64 filter) {
  const bool kernel = Has(filter, REFPMU_WANT_BRANCH_KERNEL);
  if ((entry.to & kKernelBit) != 0) return kernel;
  return Has(filter, REFPMU_WANT_BRANCH_USER) && (kernel || (entry.from & kKernelBit) == 0);
}

bool IsSelected(const refpmu_pebs_lbr& entry, u64 filter) {
  return (entry.from != 0 || entry.to != 0) && KindSelected(entry, filter) &&
         TransactionSelected(entry, filter) && PrivilegeSelected(entry, filter);
}

void CheckSample(const refpmu_pebs_lbr& entry, u64 filter, const refpmu_branch_sample& sample) {
  PROPERTY(sample.from == entry.from && sample.to == entry.to, "entries keep order and addresses");
  PROPERTY(Has(filter, REFPMU_WANT_BRANCH_KERNEL) || ((sample.from | sample.to) & kKernelBit) == 0,
           "without KERNEL no address of the kernel is shown");
  PROPERTY(sample.cycles == (Has(filter, REFPMU_WANT_BRANCH_NO_CYCLES) ? 0 : entry.info & 0xffff),
           "cycles are shown unless NO_CYCLES is set");
  const bool flags = !Has(filter, REFPMU_WANT_BRANCH_NO_FLAGS);
  const bool mispred = entry.info >> 63 != 0;
  PROPERTY(sample.mispred == (flags && mispred) && sample.predicted == (flags && !mispred) &&
               sample.in_tx == (flags && (entry.info >> 62 & 1) != 0) &&
               sample.abort == (flags && (entry.info >> 61 & 1) != 0),
           "flags are shown unless NO_FLAGS is set");
  constexpr u8 kTypes[16] = {1, 3, 2, 5, 4, 6};
  PROPERTY(sample.type ==
               (Has(filter, REFPMU_WANT_BRANCH_TYPE_SAVE) ? kTypes[entry.info >> 56 & 15] : 0),
           "a type is shown if TYPE_SAVE is set");
  PROPERTY(sample.priv == (Has(filter, REFPMU_WANT_BRANCH_PRIV_SAVE) ? 1 + (entry.to >> 63) : 0),
           "the privilege is shown if PRIV_SAVE is set");
}

u64 Address(FuzzedDataProvider& data) {
  const auto low = data.ConsumeIntegralInRange<u64>(0, 3);
  return data.ConsumeBool() ? low | kKernelBit : low;
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  const u64 filter =
      data.ConsumeBool() ? data.ConsumeIntegral<u32>() & 0xfffff : data.ConsumeIntegral<u64>();
  std::vector<refpmu_pebs_lbr> entries(data.ConsumeIntegralInRange(0u, kMaxEntries));
  for (refpmu_pebs_lbr& entry : entries) {
    entry.from = Address(data);
    entry.to = Address(data);
    entry.info = u64{data.ConsumeIntegral<u8>()} << 56 | data.ConsumeIntegral<u16>();
    entry.info |= u64{data.ConsumeIntegral<u8>()} << 16;  // bits without a meaning
  }
  std::vector<refpmu_branch_sample> samples(entries.size());
  const unsigned selected = refpmu_branch_filter(
      entries.data(), static_cast<unsigned>(entries.size()), filter, samples.data());
  unsigned next = 0;
  for (const refpmu_pebs_lbr& entry : entries) {
    if (!IsSelected(entry, filter)) continue;
    PROPERTY(next < selected, "a requested branch is kept");
    CheckSample(entry, filter, samples[next++]);
  }
  PROPERTY(next == selected, "a kept branch was requested");
  return 0;
}
