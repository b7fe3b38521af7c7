/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a PMU: registers as the driver sees them, and counters that a port page advances. */
#ifndef PMUCONF_DEVICES_MODEL_H_
#define PMUCONF_DEVICES_MODEL_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEVICE_COUNTERS 64
#define DEVICE_WORDS 512

/* The state of a device. All of it is zero after power on, unless the model has `reset`. */
struct device {
  uint64_t counter[DEVICE_COUNTERS];
  uint64_t seen[DEVICE_COUNTERS]; /* the values that the driver saw last */
  uint64_t word[DEVICE_WORDS];    /* registers; the model numbers them */
  bool line;                      /* the device requests an interrupt */
  bool held;                      /* a test holds the line low */
  void (*set_line)(struct device*, bool level);
  uint64_t code, done, interrupts, reads, named_cpu; /* registers of the port page */
  uint64_t writing_cpu;                              /* the one that writes to the port page */
  uint64_t cpu;                                      /* the one whose counters count a pulse */
};

/* Counter numbers and codes of events are those of the model. Null functions do nothing. */
struct model {
  const char* name;
  uint64_t size; /* bytes of the registers */
  unsigned counters;
  unsigned width; /* bits of a counter */
  void (*reset)(struct device*);
  /* Accesses of the driver at an offset; `size` is 4 or 8. */
  uint64_t (*read)(struct device*, uint64_t at, unsigned size);
  void (*write)(struct device*, uint64_t at, uint64_t value, unsigned size);
  /* Returns whether the driver has enabled counter i; null: the counters always run. */
  bool (*enabled)(const struct device*, unsigned i);
  /* Returns whether counter i counts events of `code`. */
  bool (*counts)(const struct device*, unsigned i, uint64_t code);
  /* Returns the next value at which counter i requests attention; null: 2^width, 0 for 64. */
  uint64_t (*limit)(const struct device*, unsigned i);
  uint64_t most_unread; /* events that a counter may count between two reads; 0: half its range */
  void (*overflowed)(struct device*, unsigned i); /* counter i has passed its limit */
  /* Returns whether an interrupt is pending; null: the device has no interrupt. */
  bool (*pending)(struct device*);
  /* Bits of the counters that differ in width from the others; null: none. */
  unsigned (*width_of)(unsigned i);
};

/* The model of this plugin: each file in models/ defines it. */
extern const struct model model;

void device_init(struct device*);
uint64_t device_read(struct device*, uint64_t at, unsigned size);
void device_write(struct device*, uint64_t at, uint64_t value, unsigned size);
uint64_t port_read(struct device*, uint64_t at);
void port_write(struct device*, uint64_t at, uint64_t value);

/* Returns counter i to the driver. */
uint64_t read_counter(struct device*, unsigned i);
/* Sets counter i for the driver. */
void write_counter(struct device*, unsigned i, uint64_t value);

/* Returns the number of the register at `at`, if it is one of `count` from `base` on, else -1. */
int index_at(uint64_t at, uint64_t base, unsigned count, unsigned stride);

#ifdef __cplusplus
}
#endif

#endif /* PMUCONF_DEVICES_MODEL_H_ */
