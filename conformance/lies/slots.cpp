// SPDX-License-Identifier: Apache-2.0
// The fields of an attr and of the control page.
#include "lies/slots.h"

#include <algorithm>
#include <array>

namespace pmuconf {
namespace {

struct Field {
  const char* name;
  std::size_t offset;
  unsigned bytes;
  unsigned shift = 0;
  unsigned width = 0;  // in bits; 0: all of them
};

#define PMUCONF_FIELD(type, field) \
  { #field, offsetof(type, field), sizeof(type::field) }

// The flags of the attr.
constexpr std::size_t kFlagsOffset =
    offsetof(perf_event_attr, read_format) + sizeof(perf_event_attr::read_format);

constexpr Field Bit(const char* name, unsigned shift, unsigned width = 1) {
  return {name, kFlagsOffset, 8, shift, width};
}

constexpr Field kAttr[] = {
    PMUCONF_FIELD(perf_event_attr, type),
    PMUCONF_FIELD(perf_event_attr, size),
    PMUCONF_FIELD(perf_event_attr, config),
    PMUCONF_FIELD(perf_event_attr, sample_period),
    PMUCONF_FIELD(perf_event_attr, sample_type),
    PMUCONF_FIELD(perf_event_attr, read_format),
    {"flags", kFlagsOffset, 8},
    Bit("disabled", 0),
    Bit("inherit", 1),
    Bit("pinned", 2),
    Bit("exclusive", 3),
    Bit("exclude_user", 4),
    Bit("exclude_kernel", 5),
    Bit("exclude_hv", 6),
    Bit("exclude_idle", 7),
    Bit("mmap", 8),
    Bit("comm", 9),
    Bit("freq", 10),
    Bit("inherit_stat", 11),
    Bit("enable_on_exec", 12),
    Bit("task", 13),
    Bit("watermark", 14),
    Bit("precise_ip", 15, 2),
    Bit("mmap_data", 17),
    Bit("sample_id_all", 18),
    Bit("exclude_host", 19),
    Bit("exclude_guest", 20),
    Bit("exclude_callchain_kernel", 21),
    Bit("exclude_callchain_user", 22),
    Bit("mmap2", 23),
    Bit("comm_exec", 24),
    Bit("use_clockid", 25),
    Bit("context_switch", 26),
    Bit("write_backward", 27),
    Bit("namespaces", 28),
    Bit("ksymbol", 29),
    Bit("bpf_event", 30),
    Bit("aux_output", 31),
    Bit("cgroup", 32),
    Bit("text_poke", 33),
    Bit("build_id", 34),
    Bit("inherit_thread", 35),
    Bit("remove_on_exec", 36),
    Bit("sigtrap", 37),
    Bit("reserved", 38, 26),  // as in Linux 6.1; later kernels know the first two bits
    Bit("defer_callchain", 38),
    Bit("defer_output", 39),
    PMUCONF_FIELD(perf_event_attr, wakeup_events),
    PMUCONF_FIELD(perf_event_attr, bp_type),
    PMUCONF_FIELD(perf_event_attr, config1),
    PMUCONF_FIELD(perf_event_attr, config2),
    PMUCONF_FIELD(perf_event_attr, branch_sample_type),
    PMUCONF_FIELD(perf_event_attr, sample_regs_user),
    PMUCONF_FIELD(perf_event_attr, sample_stack_user),
    PMUCONF_FIELD(perf_event_attr, clockid),
    PMUCONF_FIELD(perf_event_attr, sample_regs_intr),
    PMUCONF_FIELD(perf_event_attr, aux_watermark),
    PMUCONF_FIELD(perf_event_attr, sample_max_stack),
    PMUCONF_FIELD(perf_event_attr, aux_sample_size),
    PMUCONF_FIELD(perf_event_attr, sig_data),
    PMUCONF_FIELD(perf_event_attr, config3),
    PMUCONF_FIELD(perf_event_attr, config4),
};

using Page = perf_event_mmap_page;
constexpr std::size_t kCapabilities = offsetof(Page, capabilities);

constexpr Field kPage[] = {
    PMUCONF_FIELD(Page, version),
    PMUCONF_FIELD(Page, compat_version),
    PMUCONF_FIELD(Page, lock),
    PMUCONF_FIELD(Page, index),
    PMUCONF_FIELD(Page, offset),
    PMUCONF_FIELD(Page, time_enabled),
    PMUCONF_FIELD(Page, time_running),
    PMUCONF_FIELD(Page, capabilities),
    {"cap_bit0", kCapabilities, 8, 0, 1},
    {"cap_bit0_is_deprecated", kCapabilities, 8, 1, 1},
    {"cap_user_rdpmc", kCapabilities, 8, 2, 1},
    {"cap_user_time", kCapabilities, 8, 3, 1},
    {"cap_user_time_zero", kCapabilities, 8, 4, 1},
    {"cap_user_time_short", kCapabilities, 8, 5, 1},
    {"cap_reserved", kCapabilities, 8, 6, 58},
    PMUCONF_FIELD(Page, pmc_width),
    PMUCONF_FIELD(Page, time_shift),
    PMUCONF_FIELD(Page, time_mult),
    PMUCONF_FIELD(Page, time_offset),
    PMUCONF_FIELD(Page, time_zero),
    PMUCONF_FIELD(Page, size),
    PMUCONF_FIELD(Page, time_cycles),
    PMUCONF_FIELD(Page, time_mask),
    PMUCONF_FIELD(Page, data_head),
    PMUCONF_FIELD(Page, data_tail),
    PMUCONF_FIELD(Page, data_offset),
    PMUCONF_FIELD(Page, data_size),
    PMUCONF_FIELD(Page, aux_head),
    PMUCONF_FIELD(Page, aux_tail),
    PMUCONF_FIELD(Page, aux_offset),
    PMUCONF_FIELD(Page, aux_size),
    {"reserved", offsetof(Page, data_head) - 8, 8},  // the last bytes of the reserved area
};

#undef PMUCONF_FIELD

template <typename Fields>
void AddFields(const Fields& fields, const char* prefix, std::byte* at, std::size_t size,
               Slots* slots) {
  for (const Field& field : fields) {
    if (field.offset + field.bytes > size) continue;
    slots->AddBits(std::string(prefix) + field.name, at + field.offset, field.bytes, field.shift,
                   field.width != 0 ? field.width : 8 * field.bytes);
  }
}

}  // namespace

std::uint64_t Slot::Mask() const { return width >= 64 ? ~0ULL : (1ULL << width) - 1; }

std::uint64_t Slot::Get() const {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);  // little endian
  return word >> shift & Mask();
}

void Slot::Set(std::uint64_t value) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  word = (word & ~(Mask() << shift)) | (value & Mask()) << shift;
  std::memcpy(at, &word, bytes);
}

const Slot* Slots::Find(std::string_view name) const {
  const auto it = std::find_if(slots_.begin(), slots_.end(),
                               [&](const Slot& slot) { return slot.name == name; });
  return it == slots_.end() ? nullptr : &*it;
}

void AddAttr(std::byte* attr, std::size_t size, Slots* slots) {
  AddFields(kAttr, "attr.", attr, size, slots);
}

void AddPage(std::byte* page, Slots* slots) { AddFields(kPage, "", page, sizeof(Page), slots); }

std::vector<std::string> AttrNames() {
  std::vector<std::string> names;
  for (const Field& field : kAttr) names.push_back(std::string("attr.") + field.name);
  return names;
}

std::vector<std::string> PageNames() {
  std::vector<std::string> names;
  for (const Field& field : kPage) names.emplace_back(field.name);
  return names;
}

}  // namespace pmuconf
