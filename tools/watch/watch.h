/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The data that watch.bpf.c shares with user space: callbacks, breaches, and their tables. */
#ifndef PMUCONF_TOOLS_WATCH_WATCH_H_
#define PMUCONF_TOOLS_WATCH_WATCH_H_

/* The watched members of struct pmu. */
#define WATCH_CALLBACKS(X) \
  X(pmu_enable)            \
  X(pmu_disable)           \
  X(event_init)            \
  X(add)                   \
  X(del)                   \
  X(start)                 \
  X(stop)                  \
  X(read)                  \
  X(start_txn)             \
  X(commit_txn)            \
  X(cancel_txn)

enum watch_callback {
#define X(name) WATCH_##name,
  WATCH_CALLBACKS(X)
#undef X
      WATCH_overflow, /* perf_event_overflow(), which the driver calls */
  WATCH_CALLBACK_COUNT,
};

/* Breaches: name, rule, description, the meaning of `expected` and `found`, and the callbacks whose
 * calls are checked: without a call of one of them, nothing was checked.
 */
#define WATCH_BREACHES(X)                                                                         \
  X(INTERRUPTS_ON, "DRC-044", "called with interrupts on", "",                                    \
    "add del start stop read (overflow)")                                                         \
  X(WRONG_CPU, "DRC-044", "called on another CPU than the event's", "CPU",                        \
    "add del start stop (overflow)")                                                              \
  X(PMU_ON, "DRC-044", "called with the PMU enabled", "", "add del")                              \
  X(ADD_NOT_RUNNING, "DRC-047", "an event that was added and enabled does not run", "hw.state",   \
    "add")                                                                                        \
  X(ADD_RUNNING, "DRC-047", "an event runs that was added without PERF_EF_START", "hw.state",     \
    "add")                                                                                        \
  X(FAILED_ADD_STATE, "DRC-046", "an add that failed left another state", "hw.state", "add")      \
  X(FAILED_ADD_INDEX, "DRC-046", "an add that failed left another counter", "hw.idx", "add")      \
  X(DEL_STATE, "DRC-048", "after del the event is not stopped and up to date", "hw.state", "del") \
  X(LATE_COUNT, "DRC-048", "the count went on after del", "count", "del")                         \
  X(STOP_RUNNING, "DRC-052", "stop did not set STOPPED", "hw.state", "stop")                      \
  X(STOP_STALE, "DRC-052", "stop with PERF_EF_UPDATE did not set UPTODATE", "hw.state", "stop")   \
  X(START_STOPPED, "DRC-053", "start did not clear STOPPED and UPTODATE", "hw.state", "start")    \
  X(RELOAD_WITHOUT_UPDATE, "DRC-053",                                                             \
    "start with PERF_EF_RELOAD without a stop with PERF_EF_UPDATE", "hw.state", "start")          \
  X(STARTED_TWICE, "DRC-054",                                                                     \
    "start of an event that is not stopped: nobody stopped it when it was throttled", "hw.state", \
    "start")                                                                                      \
  X(STATE, "DRV-037", "UPTODATE without STOPPED", "hw.state", "add del start stop")               \
  X(COUNTED_STOPPED, "DRC-060", "the count of a stopped event that was up to date changed",       \
    "count", "read stop del")                                                                     \
  X(COUNT_DOWN, "DRC-061", "the count went down", "count", "read stop del")                       \
  X(PERIOD_LEFT, "DRC-066", "period_left is not within the period", "period", "start (overflow)") \
  X(PERIOD_LEFT_STUCK, "DRC-058", "the count went on and period_left did not", "period_left",     \
    "read stop del")                                                                              \
  X(NOT_PROGRAMMED, "DRC-066", "prev_count is far from what period_left asks for",                \
    "events to the overflow", "start (overflow)")                                                 \
  X(LAST_PERIOD, "DRC-067", "a sample with another period than last_period", "period",            \
    "(overflow)")                                                                                 \
  X(OVERFLOW_STOPPED, "DRC-071", "an overflow of an event that is stopped", "hw.state",           \
    "(overflow)")                                                                                 \
  X(OVERFLOW_TOO_OFTEN, "DRC-071", "more overflows than periods that ended",                      \
    "events counted, reported periods", "(overflow)")                                             \
  X(OVERFLOW_UNSTOPPED, "DRC-054", "an overflow of an event that was to be stopped", "",          \
    "(overflow)")                                                                                 \
  X(TXN_NESTED, "DRC-082", "a transaction began in a transaction", "", "start_txn")               \
  X(TXN_NONE, "DRC-082", "a transaction ended that never began", "", "commit_txn cancel_txn")     \
  X(TXN_BALANCE, "DRC-082",                                                                       \
    "a transaction left the PMU disabled or enabled otherwise than before", "depth of disable",   \
    "commit_txn cancel_txn")                                                                      \
  X(INIT_FOREIGN, "DRC-015", "event_init answered for a foreign type", "errno", "event_init")     \
  X(INIT_POSITIVE, "DRC-020", "event_init returned a positive number", "return value",            \
    "event_init")                                                                                 \
  X(INIT_DESTROY, "DRC-037", "event_init failed and left destroy set", "errno", "event_init")

enum watch_breach {
#define X(name, rule, text, what, calls) WATCH_BREACH_##name,
  WATCH_BREACHES(X)
#undef X
      WATCH_BREACH_COUNT,
};

#define WATCH_BUCKETS 32 /* of a histogram; bucket i counts calls of less than 2^i ns */

/* Durations of the calls of one callback. */
struct watch_calls {
  unsigned long long calls;
  unsigned long long longest; /* ns */
  unsigned long long total;   /* ns */
  unsigned long long buckets[WATCH_BUCKETS];
};

/* A breach: the number of occurrences, and the facts of the first one. */
struct watch_seen {
  unsigned long long times;
  unsigned long long expected;
  unsigned long long found;
  unsigned long long config; /* of the event */
  unsigned int type;
  unsigned int callback;
  unsigned int flags; /* of the callback */
  unsigned int cpu;
  unsigned int pid;
  char comm[16];
};

#endif /* PMUCONF_TOOLS_WATCH_WATCH_H_ */
