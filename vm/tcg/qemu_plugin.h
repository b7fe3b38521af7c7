// SPDX-License-Identifier: Apache-2.0
// The part of QEMU's plugin interface that this plugin uses, in the version QEMU_PLUGIN_VERSION: 1
// of QEMU before 9.0, or 3 of QEMU 9.1 and later. Distributions package no header.
#ifndef PMUCONF_VM_TCG_QEMU_PLUGIN_H_
#define PMUCONF_VM_TCG_QEMU_PLUGIN_H_

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

// Facts about the emulator, which it passes at installation.
struct qemu_info_t {
  const char* target_name;
  struct {
    int min;
    int cur;
  } version;
  bool system_emulation;
  struct {
    int smp_vcpus;
    int max_vcpus;
  } system;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W = 2, QEMU_PLUGIN_MEM_RW = 3 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb* block);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned cpu, void* data);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned cpu, qemu_plugin_meminfo_t access,
                                           std::uint64_t address, void* data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           qemu_plugin_vcpu_tb_trans_cb_t call);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block, qemu_plugin_vcpu_udata_cb_t call,
                                          qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* instruction,
                                            qemu_plugin_vcpu_udata_cb_t call,
                                            qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn* instruction, qemu_plugin_vcpu_mem_cb_t call,
                                      qemu_plugin_cb_flags flags, qemu_plugin_mem_rw which,
                                      void* data);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb* block);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* block, std::size_t index);

#if QEMU_PLUGIN_VERSION == 1
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn* instruction, qemu_plugin_op op,
                                                void* word, std::uint64_t addend);
void qemu_plugin_register_vcpu_mem_inline(qemu_plugin_insn* instruction, qemu_plugin_mem_rw which,
                                          qemu_plugin_op op, void* word, std::uint64_t addend);
const void* qemu_plugin_insn_data(const qemu_plugin_insn* instruction);
#else
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn* instruction, void* to, std::size_t size);
#endif
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn* instruction);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* instruction);
void* qemu_plugin_insn_haddr(const qemu_plugin_insn* instruction);

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t access);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t access);
qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t access, std::uint64_t address);
bool qemu_plugin_hwaddr_is_io(const qemu_plugin_hwaddr* address);
std::uint64_t qemu_plugin_hwaddr_phys_addr(const qemu_plugin_hwaddr* address);

}  // extern "C"

#endif  // PMUCONF_VM_TCG_QEMU_PLUGIN_H_
