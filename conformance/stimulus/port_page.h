/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port page: a page of a device through which a test makes events happen (vm/devices). All
 * registers have 64 bits, and only accesses of 64 bits are valid.
 */
#ifndef PMUCONF_STIMULUS_PORT_PAGE_H_
#define PMUCONF_STIMULUS_PORT_PAGE_H_

#define PORT_PAGE_BYTES 4096
#define PORT_PAGE_CPU_CURRENT UINT64_MAX
#define PORT_PAGE_MAGIC 0x706d75636f6e6601 /* "pmuconf" and a version */

enum port_page_register {
  PORT_PAGE_ID = 0x00,   /* read: PORT_PAGE_MAGIC */
  PORT_PAGE_CODE = 0x08, /* the code of the events that a pulse generates */
  /*
   * Write: generate up to that many events. The device stops at the first overflow that raises the
   * line, and generates none while the line is up. A device without a line generates no more than
   * half the range of a counter after the driver read that counter. Read: the number of events that
   * the last write generated.
   */
  PORT_PAGE_PULSE = 0x10,
  PORT_PAGE_LINE = 0x18,       /* read: 1 if the device requests an interrupt */
  PORT_PAGE_HOLD = 0x20,       /* 1: the line is held low, and overflows do not stop the device */
  PORT_PAGE_INTERRUPTS = 0x28, /* read: how often the line rose since the last reset */
  PORT_PAGE_READS = 0x30,      /* read: counters that the driver read since the last reset */
  PORT_PAGE_ENABLED = 0x38,    /* read: bit i is 1 if the driver has enabled counter i */
  PORT_PAGE_COUNTERS = 0x40,   /* read: the number of counters */
  PORT_PAGE_WIDTH = 0x48,      /* read: the bits of a counter */
  PORT_PAGE_POLLED = 0x50,     /* read: 1 if the device has no line, so the driver must poll */
  PORT_PAGE_RESET = 0x58,      /* write: release the line and clear the statistics */
  /*
   * The CPU whose counters count a pulse, if each CPU has its own; PORT_PAGE_CPU_CURRENT: the one
   * that writes PORT_PAGE_PULSE.
   */
  PORT_PAGE_CPU = 0x60,
};

#endif /* PMUCONF_STIMULUS_PORT_PAGE_H_ */
