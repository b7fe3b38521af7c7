// SPDX-License-Identifier: Apache-2.0
// The ABI of perf up to Linux 7.3, with the kernel's names. It replaces the header of the machine
// that builds the suite, whose version must not decide what a case tests. vm/tests/uapi_test.py
// compares it with the headers of the kernels. Longer than 500 lines: it is one header in the
// kernel.
#ifndef PMUCONF_UAPI_LINUX_PERF_EVENT_H_
#define PMUCONF_UAPI_LINUX_PERF_EVENT_H_

#include <linux/ioctl.h>
#include <linux/types.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the bit fields are in the order of little-endian processors"
#endif

// The types of events, and the generic events.
enum perf_type_id {
  PERF_TYPE_HARDWARE,
  PERF_TYPE_SOFTWARE,
  PERF_TYPE_TRACEPOINT,
  PERF_TYPE_HW_CACHE,
  PERF_TYPE_RAW,
  PERF_TYPE_BREAKPOINT,
  PERF_TYPE_MAX
};

#define PERF_PMU_TYPE_SHIFT 32
#define PERF_HW_EVENT_MASK 0xffffffff

enum perf_hw_id {
  PERF_COUNT_HW_CPU_CYCLES,
  PERF_COUNT_HW_INSTRUCTIONS,
  PERF_COUNT_HW_CACHE_REFERENCES,
  PERF_COUNT_HW_CACHE_MISSES,
  PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
  PERF_COUNT_HW_BRANCH_MISSES,
  PERF_COUNT_HW_BUS_CYCLES,
  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
  PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
  PERF_COUNT_HW_REF_CPU_CYCLES,
  PERF_COUNT_HW_MAX
};

enum perf_hw_cache_id {
  PERF_COUNT_HW_CACHE_L1D,
  PERF_COUNT_HW_CACHE_L1I,
  PERF_COUNT_HW_CACHE_LL,
  PERF_COUNT_HW_CACHE_DTLB,
  PERF_COUNT_HW_CACHE_ITLB,
  PERF_COUNT_HW_CACHE_BPU,
  PERF_COUNT_HW_CACHE_NODE,
  PERF_COUNT_HW_CACHE_MAX
};

enum perf_hw_cache_op_id {
  PERF_COUNT_HW_CACHE_OP_READ,
  PERF_COUNT_HW_CACHE_OP_WRITE,
  PERF_COUNT_HW_CACHE_OP_PREFETCH,
  PERF_COUNT_HW_CACHE_OP_MAX
};

enum perf_hw_cache_op_result_id {
  PERF_COUNT_HW_CACHE_RESULT_ACCESS,
  PERF_COUNT_HW_CACHE_RESULT_MISS,
  PERF_COUNT_HW_CACHE_RESULT_MAX
};

enum perf_sw_ids {
  PERF_COUNT_SW_CPU_CLOCK,
  PERF_COUNT_SW_TASK_CLOCK,
  PERF_COUNT_SW_PAGE_FAULTS,
  PERF_COUNT_SW_CONTEXT_SWITCHES,
  PERF_COUNT_SW_CPU_MIGRATIONS,
  PERF_COUNT_SW_PAGE_FAULTS_MIN,
  PERF_COUNT_SW_PAGE_FAULTS_MAJ,
  PERF_COUNT_SW_ALIGNMENT_FAULTS,
  PERF_COUNT_SW_EMULATION_FAULTS,
  PERF_COUNT_SW_DUMMY,
  PERF_COUNT_SW_BPF_OUTPUT,
  PERF_COUNT_SW_CGROUP_SWITCHES,
  PERF_COUNT_SW_MAX
};

// The formats of samples, branch stacks and readings.
enum perf_event_sample_format {
  PERF_SAMPLE_IP = 1u << 0,
  PERF_SAMPLE_TID = 1u << 1,
  PERF_SAMPLE_TIME = 1u << 2,
  PERF_SAMPLE_ADDR = 1u << 3,
  PERF_SAMPLE_READ = 1u << 4,
  PERF_SAMPLE_CALLCHAIN = 1u << 5,
  PERF_SAMPLE_ID = 1u << 6,
  PERF_SAMPLE_CPU = 1u << 7,
  PERF_SAMPLE_PERIOD = 1u << 8,
  PERF_SAMPLE_STREAM_ID = 1u << 9,
  PERF_SAMPLE_RAW = 1u << 10,
  PERF_SAMPLE_BRANCH_STACK = 1u << 11,
  PERF_SAMPLE_REGS_USER = 1u << 12,
  PERF_SAMPLE_STACK_USER = 1u << 13,
  PERF_SAMPLE_WEIGHT = 1u << 14,
  PERF_SAMPLE_DATA_SRC = 1u << 15,
  PERF_SAMPLE_IDENTIFIER = 1u << 16,
  PERF_SAMPLE_TRANSACTION = 1u << 17,
  PERF_SAMPLE_REGS_INTR = 1u << 18,
  PERF_SAMPLE_PHYS_ADDR = 1u << 19,
  PERF_SAMPLE_AUX = 1u << 20,
  PERF_SAMPLE_CGROUP = 1u << 21,
  PERF_SAMPLE_DATA_PAGE_SIZE = 1u << 22,
  PERF_SAMPLE_CODE_PAGE_SIZE = 1u << 23,
  PERF_SAMPLE_WEIGHT_STRUCT = 1u << 24,
  PERF_SAMPLE_MAX = 1u << 25
};

#define PERF_SAMPLE_WEIGHT_TYPE (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

enum perf_branch_sample_type {
  PERF_SAMPLE_BRANCH_USER = 1u << 0,
  PERF_SAMPLE_BRANCH_KERNEL = 1u << 1,
  PERF_SAMPLE_BRANCH_HV = 1u << 2,
  PERF_SAMPLE_BRANCH_ANY = 1u << 3,
  PERF_SAMPLE_BRANCH_ANY_CALL = 1u << 4,
  PERF_SAMPLE_BRANCH_ANY_RETURN = 1u << 5,
  PERF_SAMPLE_BRANCH_IND_CALL = 1u << 6,
  PERF_SAMPLE_BRANCH_ABORT_TX = 1u << 7,
  PERF_SAMPLE_BRANCH_IN_TX = 1u << 8,
  PERF_SAMPLE_BRANCH_NO_TX = 1u << 9,
  PERF_SAMPLE_BRANCH_COND = 1u << 10,
  PERF_SAMPLE_BRANCH_CALL_STACK = 1u << 11,
  PERF_SAMPLE_BRANCH_IND_JUMP = 1u << 12,
  PERF_SAMPLE_BRANCH_CALL = 1u << 13,
  PERF_SAMPLE_BRANCH_NO_FLAGS = 1u << 14,
  PERF_SAMPLE_BRANCH_NO_CYCLES = 1u << 15,
  PERF_SAMPLE_BRANCH_TYPE_SAVE = 1u << 16,
  PERF_SAMPLE_BRANCH_HW_INDEX = 1u << 17,
  PERF_SAMPLE_BRANCH_PRIV_SAVE = 1u << 18,
  PERF_SAMPLE_BRANCH_COUNTERS = 1u << 19,
  PERF_SAMPLE_BRANCH_MAX = 1u << 20
};

#define PERF_SAMPLE_BRANCH_PLM_ALL \
  (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

enum {
  PERF_BR_UNKNOWN,
  PERF_BR_COND,
  PERF_BR_UNCOND,
  PERF_BR_IND,
  PERF_BR_CALL,
  PERF_BR_IND_CALL,
  PERF_BR_RET,
  PERF_BR_SYSCALL,
  PERF_BR_SYSRET,
  PERF_BR_COND_CALL,
  PERF_BR_COND_RET,
  PERF_BR_ERET,
  PERF_BR_IRQ,
  PERF_BR_SERROR,
  PERF_BR_NO_TX,
  PERF_BR_EXTEND_ABI,
  PERF_BR_MAX
};

enum {
  PERF_BR_SPEC_NA,
  PERF_BR_SPEC_WRONG_PATH,
  PERF_BR_NON_SPEC_CORRECT_PATH,
  PERF_BR_SPEC_CORRECT_PATH,
  PERF_BR_SPEC_MAX
};

enum {
  PERF_BR_NEW_FAULT_ALGN,
  PERF_BR_NEW_FAULT_DATA,
  PERF_BR_NEW_FAULT_INST,
  PERF_BR_NEW_ARCH_1,
  PERF_BR_NEW_ARCH_2,
  PERF_BR_NEW_ARCH_3,
  PERF_BR_NEW_ARCH_4,
  PERF_BR_NEW_ARCH_5,
  PERF_BR_NEW_MAX
};

enum { PERF_BR_PRIV_UNKNOWN, PERF_BR_PRIV_USER, PERF_BR_PRIV_KERNEL, PERF_BR_PRIV_HV };

enum perf_sample_regs_abi {
  PERF_SAMPLE_REGS_ABI_NONE,
  PERF_SAMPLE_REGS_ABI_32,
  PERF_SAMPLE_REGS_ABI_64
};

enum {
  PERF_TXN_ELISION = 1 << 0,
  PERF_TXN_TRANSACTION = 1 << 1,
  PERF_TXN_SYNC = 1 << 2,
  PERF_TXN_ASYNC = 1 << 3,
  PERF_TXN_RETRY = 1 << 4,
  PERF_TXN_CONFLICT = 1 << 5,
  PERF_TXN_CAPACITY_WRITE = 1 << 6,
  PERF_TXN_CAPACITY_READ = 1 << 7,
  PERF_TXN_MAX = 1 << 8,
  PERF_TXN_ABORT_SHIFT = 32,
  PERF_TXN_ABORT_MASK = 0xffffffffull << PERF_TXN_ABORT_SHIFT
};

enum perf_event_read_format {
  PERF_FORMAT_TOTAL_TIME_ENABLED = 1u << 0,
  PERF_FORMAT_TOTAL_TIME_RUNNING = 1u << 1,
  PERF_FORMAT_ID = 1u << 2,
  PERF_FORMAT_GROUP = 1u << 3,
  PERF_FORMAT_LOST = 1u << 4,
  PERF_FORMAT_MAX = 1u << 5
};

// The sizes of the attr. Each ends with the field of the comment.
#define PERF_ATTR_SIZE_VER0 64   // config1
#define PERF_ATTR_SIZE_VER1 72   // config2
#define PERF_ATTR_SIZE_VER2 80   // branch_sample_type
#define PERF_ATTR_SIZE_VER3 96   // clockid
#define PERF_ATTR_SIZE_VER4 104  // sample_regs_intr
#define PERF_ATTR_SIZE_VER5 112  // __reserved_2
#define PERF_ATTR_SIZE_VER6 120  // aux_action
#define PERF_ATTR_SIZE_VER7 128  // sig_data
#define PERF_ATTR_SIZE_VER8 136  // config3
#define PERF_ATTR_SIZE_VER9 144  // config4

struct perf_event_attr {
  __u32 type;
  __u32 size;
  __u64 config;
  union {
    __u64 sample_period;
    __u64 sample_freq;
  };
  __u64 sample_type;
  __u64 read_format;
  __u64 disabled : 1;
  __u64 inherit : 1;
  __u64 pinned : 1;
  __u64 exclusive : 1;
  __u64 exclude_user : 1;
  __u64 exclude_kernel : 1;
  __u64 exclude_hv : 1;
  __u64 exclude_idle : 1;
  __u64 mmap : 1;
  __u64 comm : 1;
  __u64 freq : 1;
  __u64 inherit_stat : 1;
  __u64 enable_on_exec : 1;
  __u64 task : 1;
  __u64 watermark : 1;
  __u64 precise_ip : 2;
  __u64 mmap_data : 1;
  __u64 sample_id_all : 1;
  __u64 exclude_host : 1;
  __u64 exclude_guest : 1;
  __u64 exclude_callchain_kernel : 1;
  __u64 exclude_callchain_user : 1;
  __u64 mmap2 : 1;
  __u64 comm_exec : 1;
  __u64 use_clockid : 1;
  __u64 context_switch : 1;
  __u64 write_backward : 1;
  __u64 namespaces : 1;
  __u64 ksymbol : 1;
  __u64 bpf_event : 1;
  __u64 aux_output : 1;
  __u64 cgroup : 1;
  __u64 text_poke : 1;
  __u64 build_id : 1;
  __u64 inherit_thread : 1;
  __u64 remove_on_exec : 1;
  __u64 sigtrap : 1;
  __u64 defer_callchain : 1;
  __u64 defer_output : 1;
  __u64 __reserved_1 : 24;
  union {
    __u32 wakeup_events;
    __u32 wakeup_watermark;
  };
  __u32 bp_type;
  union {
    __u64 bp_addr;
    __u64 kprobe_func;
    __u64 uprobe_path;
    __u64 config1;
  };
  union {
    __u64 bp_len;
    __u64 kprobe_addr;
    __u64 probe_offset;
    __u64 config2;
  };
  __u64 branch_sample_type;
  __u64 sample_regs_user;
  __u32 sample_stack_user;
  __s32 clockid;
  __u64 sample_regs_intr;
  __u32 aux_watermark;
  __u16 sample_max_stack;
  __u16 __reserved_2;
  __u32 aux_sample_size;
  union {
    __u32 aux_action;
    struct {
      __u32 aux_start_paused : 1;
      __u32 aux_pause : 1;
      __u32 aux_resume : 1;
      __u32 __reserved_3 : 29;
    };
  };
  __u64 sig_data;
  __u64 config3;
  __u64 config4;
};

// Calls on an event.
struct perf_event_query_bpf {
  __u32 ids_len;
  __u32 prog_cnt;
  __u32 ids[];
};

#define PERF_EVENT_IOC_ENABLE _IO('$', 0)
#define PERF_EVENT_IOC_DISABLE _IO('$', 1)
#define PERF_EVENT_IOC_REFRESH _IO('$', 2)
#define PERF_EVENT_IOC_RESET _IO('$', 3)
#define PERF_EVENT_IOC_PERIOD _IOW('$', 4, __u64)
#define PERF_EVENT_IOC_SET_OUTPUT _IO('$', 5)
#define PERF_EVENT_IOC_SET_FILTER _IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID _IOR('$', 7, __u64 *)
#define PERF_EVENT_IOC_SET_BPF _IOW('$', 8, __u32)
#define PERF_EVENT_IOC_PAUSE_OUTPUT _IOW('$', 9, __u32)
#define PERF_EVENT_IOC_QUERY_BPF _IOWR('$', 10, struct perf_event_query_bpf *)
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES _IOW('$', 11, struct perf_event_attr *)

enum perf_event_ioc_flags { PERF_IOC_FLAG_GROUP = 1u << 0 };

#define PERF_FLAG_FD_NO_GROUP (1ul << 0)
#define PERF_FLAG_FD_OUTPUT (1ul << 1)
#define PERF_FLAG_PID_CGROUP (1ul << 2)
#define PERF_FLAG_FD_CLOEXEC (1ul << 3)

// The control page of a ring buffer.
struct perf_event_mmap_page {
  __u32 version;
  __u32 compat_version;
  __u32 lock;
  __u32 index;
  __s64 offset;
  __u64 time_enabled;
  __u64 time_running;
  union {
    __u64 capabilities;
    struct {
      __u64 cap_bit0 : 1;
      __u64 cap_bit0_is_deprecated : 1;
      __u64 cap_user_rdpmc : 1;
      __u64 cap_user_time : 1;
      __u64 cap_user_time_zero : 1;
      __u64 cap_user_time_short : 1;
      __u64 cap_____res : 58;
    };
  };
  __u16 pmc_width;
  __u16 time_shift;
  __u32 time_mult;
  __u64 time_offset;
  __u64 time_zero;
  __u32 size;
  __u32 __reserved_1;
  __u64 time_cycles;
  __u64 time_mask;
  __u8 __reserved[116 * 8];
  __u64 data_head;
  __u64 data_tail;
  __u64 data_offset;
  __u64 data_size;
  __u64 aux_head;
  __u64 aux_tail;
  __u64 aux_offset;
  __u64 aux_size;
};

// Records.
struct perf_event_header {
  __u32 type;
  __u16 misc;
  __u16 size;
};

#define PERF_RECORD_MISC_CPUMODE_MASK 7
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN 0
#define PERF_RECORD_MISC_KERNEL 1
#define PERF_RECORD_MISC_USER 2
#define PERF_RECORD_MISC_HYPERVISOR 3
#define PERF_RECORD_MISC_GUEST_KERNEL 4
#define PERF_RECORD_MISC_GUEST_USER 5
#define PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT (1 << 12)
#define PERF_RECORD_MISC_MMAP_DATA (1 << 13)
#define PERF_RECORD_MISC_COMM_EXEC (1 << 13)
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#define PERF_RECORD_MISC_SWITCH_OUT (1 << 13)
#define PERF_RECORD_MISC_EXACT_IP (1 << 14)
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#define PERF_RECORD_MISC_EXT_RESERVED (1 << 15)

enum perf_event_type {
  PERF_RECORD_MMAP = 1,
  PERF_RECORD_LOST,
  PERF_RECORD_COMM,
  PERF_RECORD_EXIT,
  PERF_RECORD_THROTTLE,
  PERF_RECORD_UNTHROTTLE,
  PERF_RECORD_FORK,
  PERF_RECORD_READ,
  PERF_RECORD_SAMPLE,
  PERF_RECORD_MMAP2,
  PERF_RECORD_AUX,
  PERF_RECORD_ITRACE_START,
  PERF_RECORD_LOST_SAMPLES,
  PERF_RECORD_SWITCH,
  PERF_RECORD_SWITCH_CPU_WIDE,
  PERF_RECORD_NAMESPACES,
  PERF_RECORD_KSYMBOL,
  PERF_RECORD_BPF_EVENT,
  PERF_RECORD_CGROUP,
  PERF_RECORD_TEXT_POKE,
  PERF_RECORD_AUX_OUTPUT_HW_ID,
  PERF_RECORD_CALLCHAIN_DEFERRED,
  PERF_RECORD_MAX
};

struct perf_ns_link_info {
  __u64 dev;
  __u64 ino;
};

enum {
  NET_NS_INDEX,
  UTS_NS_INDEX,
  IPC_NS_INDEX,
  PID_NS_INDEX,
  USER_NS_INDEX,
  MNT_NS_INDEX,
  CGROUP_NS_INDEX,
  NR_NAMESPACES
};

enum perf_record_ksymbol_type {
  PERF_RECORD_KSYMBOL_TYPE_UNKNOWN,
  PERF_RECORD_KSYMBOL_TYPE_BPF,
  PERF_RECORD_KSYMBOL_TYPE_OOL,
  PERF_RECORD_KSYMBOL_TYPE_MAX
};

#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER 1

enum perf_bpf_event_type {
  PERF_BPF_EVENT_UNKNOWN,
  PERF_BPF_EVENT_PROG_LOAD,
  PERF_BPF_EVENT_PROG_UNLOAD,
  PERF_BPF_EVENT_MAX
};

#define PERF_MAX_STACK_DEPTH 127
#define PERF_MAX_CONTEXTS_PER_STACK 8

enum perf_callchain_context {
  PERF_CONTEXT_HV = (__u64)-32,
  PERF_CONTEXT_KERNEL = (__u64)-128,
  PERF_CONTEXT_USER = (__u64)-512,
  PERF_CONTEXT_USER_DEFERRED = (__u64)-640,
  PERF_CONTEXT_GUEST = (__u64)-2048,
  PERF_CONTEXT_GUEST_KERNEL = (__u64)-2176,
  PERF_CONTEXT_GUEST_USER = (__u64)-2560,
  PERF_CONTEXT_MAX = (__u64)-4095
};

#define PERF_AUX_FLAG_TRUNCATED 0x01
#define PERF_AUX_FLAG_OVERWRITE 0x02
#define PERF_AUX_FLAG_PARTIAL 0x04
#define PERF_AUX_FLAG_COLLISION 0x08
#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK 0xff00
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT 0x0000
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW 0x0100

struct perf_branch_entry {
  __u64 from;
  __u64 to;
  __u64 mispred : 1;
  __u64 predicted : 1;
  __u64 in_tx : 1;
  __u64 abort : 1;
  __u64 cycles : 16;
  __u64 type : 4;
  __u64 spec : 2;
  __u64 new_type : 4;
  __u64 priv : 3;
  __u64 reserved : 31;
};

union perf_sample_weight {
  __u64 full;
  struct {
    __u32 var1_dw;
    __u16 var2_w;
    __u16 var3_w;
  };
};

union perf_mem_data_src {
  __u64 val;
  struct {
    __u64 mem_op : 5;
    __u64 mem_lvl : 14;
    __u64 mem_snoop : 5;
    __u64 mem_lock : 2;
    __u64 mem_dtlb : 7;
    __u64 mem_lvl_num : 4;
    __u64 mem_remote : 1;
    __u64 mem_snoopx : 2;
    __u64 mem_blk : 3;
    __u64 mem_hops : 3;
    __u64 mem_region : 5;
    __u64 mem_rsvd : 13;
  };
};

// The values of perf_mem_data_src that the suite uses.
#define PERF_MEM_OP_NA 0x01
#define PERF_MEM_OP_LOAD 0x02
#define PERF_MEM_OP_STORE 0x04
#define PERF_MEM_OP_SHIFT 0
#define PERF_MEM_LVL_NA 0x01
#define PERF_MEM_LVL_HIT 0x02
#define PERF_MEM_LVL_MISS 0x04
#define PERF_MEM_LVL_L1 0x08
#define PERF_MEM_LVL_L3 0x40
#define PERF_MEM_LVL_SHIFT 5
#define PERF_MEM_SNOOP_NA 0x01
#define PERF_MEM_SNOOP_HITM 0x10
#define PERF_MEM_SNOOP_SHIFT 19
#define PERF_MEM_LOCK_NA 0x01
#define PERF_MEM_LOCK_LOCKED 0x02
#define PERF_MEM_LOCK_SHIFT 24
#define PERF_MEM_TLB_NA 0x01
#define PERF_MEM_TLB_HIT 0x02
#define PERF_MEM_TLB_MISS 0x04
#define PERF_MEM_TLB_SHIFT 26
#define PERF_MEM_S(field, value) (((__u64)PERF_MEM_##field##_##value) << PERF_MEM_##field##_SHIFT)

#endif  // PMUCONF_UAPI_LINUX_PERF_EVENT_H_
