/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU's TCG that adds the PMU of one model to a machine. QEMU installs plugins after
 * it made the machine's memory, and before it makes the board.
 *
 *   registers=ADDRESS  where the guest finds the registers, unless a BAR has them
 *   port=ADDRESS       where the guest finds the port page
 *   pin=N              the input of the interrupt controller
 *   pci=ID             the vendor and the device of a PCI function, 0xVVVVDDDD
 *   bar=N              the BAR with the registers; the function then has an MSI
 *   config=N           the dword of config space that has the address of the registers and bit 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/model.h"
#include "plugin/qemu.h"
#include "stimulus/port_page.h"

#define UNUSED UINT64_MAX
#define PRIORITY 10 /* above the regions of the board */

EXPORT extern const int qemu_plugin_version;
const int qemu_plugin_version = QEMU_PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv);

enum option { REGISTERS, PORT, PIN, PCI, BAR, CONFIG, OPTIONS };
static const char* const names[OPTIONS] = {"registers", "port", "pin", "pci", "bar", "config"};
static uint64_t value_of[OPTIONS] = {UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED};

static struct device device;
static _Alignas(64) char registers[MEMORY_REGION_BYTES], port[MEMORY_REGION_BYTES];
static PCIDevice* function;

static uint64_t read_register(void* opaque, hwaddr at, unsigned size) {
  (void)opaque;
  return device_read(&device, at, size);
}

static void write_register(void* opaque, hwaddr at, uint64_t value, unsigned size) {
  (void)opaque;
  device_write(&device, at, value, size);
}

static uint64_t read_port(void* opaque, hwaddr at, unsigned size) {
  (void)opaque;
  (void)size;
  return port_read(&device, at);
}

static int current_cpu_number(void) {
  int number = 0;

  while (qemu_get_cpu(number) && qemu_get_cpu(number) != current_cpu) number++;
  return number;
}

static void write_port(void* opaque, hwaddr at, uint64_t value, unsigned size) {
  (void)opaque;
  (void)size;
  device.writing_cpu = (uint64_t)current_cpu_number();
  port_write(&device, at, value);
}

static const MemoryRegionOps register_ops = {
    .read = read_register,
    .write = write_register,
    .endianness = 2,
    .valid = {.min_access_size = 4, .max_access_size = 8},
    .impl = {.min_access_size = 4, .max_access_size = 8},
};
static const MemoryRegionOps port_ops = {
    .read = read_port,
    .write = write_port,
    .endianness = 2,
    .valid = {.min_access_size = 8, .max_access_size = 8},
    .impl = {.min_access_size = 8, .max_access_size = 8},
};

/* The board with the interrupt controller exists only when the guest runs. */
static void set_pin(struct device* d, bool level) {
  static const char* const controllers[] = {"ioapic", "arm-gicv3", "arm_gic"};
  static qemu_irq pin;

  (void)d;
  for (unsigned i = 0; i < sizeof(controllers) / sizeof(controllers[0]) && !pin; i++) {
    Object* const found = object_resolve_path_type("", controllers[i], NULL);
    if (found) pin = qdev_get_gpio_in((DeviceState*)found, (int)value_of[PIN]);
  }
  if (pin) qemu_set_irq(pin, level);
}

static void set_msi(struct device* d, bool level) {
  (void)d;
  if (level && function) msi_notify(function, 0);
}

static void map(char* region, const MemoryRegionOps* ops, uint64_t at, uint64_t size) {
  memory_region_init_io((MemoryRegion*)region, NULL, ops, NULL, model.name, size);
  memory_region_add_subregion_overlap(get_system_memory(), at, (MemoryRegion*)region, PRIORITY);
}

static void realize(PCIDevice* pci, Error** error) {
  function = pci;
  if (value_of[CONFIG] != UNUSED) {
    /* PCIDevice begins with its DeviceState and two flags; the pointer to config space follows. */
    char* const after = (char*)pci + object_type_get_instance_size("device");
    uint8_t* const config = *(uint8_t**)(after + sizeof(uint64_t));
    const uint32_t base = (uint32_t)value_of[REGISTERS] | 1;
    memcpy(config + value_of[CONFIG], &base, sizeof(base));
  }
  if (value_of[BAR] == UNUSED) return;
  memory_region_init_io((MemoryRegion*)registers, (Object*)pci, &register_ops, NULL, model.name,
                        model.size);
  pci_register_bar(pci, (int)value_of[BAR], 0, (MemoryRegion*)registers);
  msi_init(pci, 0, 1, true, false, error);
}

static struct pci_class* class_of(ObjectClass* class) {
  return (struct pci_class*)((char*)class + DEVICE_CLASS_BYTES);
}

static void init_class(ObjectClass* class, void* data) {
  struct pci_class* const pci = class_of(class);

  (void)data;
  pci->realize = realize;
  pci->vendor = (uint16_t)(value_of[PCI] >> 16);
  pci->device = (uint16_t)value_of[PCI];
  pci->class = 0x1101; /* performance counters */
}

static int fail(const char* what, const char* which) {
  fprintf(stderr, "device %s: %s%s\n", model.name, what, which);
  return -1;
}

static int register_type(void) {
  static InterfaceInfo interfaces[] = {{"conventional-pci-device"}, {NULL}};
  static char name[64];
  const TypeInfo type = {
      .name = name, .parent = "pci-device", .class_init = init_class, .interfaces = interfaces};
  ObjectClass* const known = object_class_by_name("pci-testdev");

  /* The ids of a device of QEMU itself show whether the layout is the expected one. */
  if (!known || class_of(known)->vendor != 0x1b36 || class_of(known)->device != 5)
    return fail("this QEMU has another layout of PCI classes", "");
  snprintf(name, sizeof(name), "pmuconf-%s", model.name);
  type_register(&type);
  return 0;
}

static int read_option(const char* word) {
  for (unsigned i = 0; i < OPTIONS; i++) {
    const size_t length = strlen(names[i]);
    char* end;

    if (strncmp(word, names[i], length) != 0 || word[length] != '=') continue;
    value_of[i] = strtoull(word + length + 1, &end, 0);
    return *end == '\0' ? 0 : fail("no number: ", word);
  }
  return fail("unknown option ", word);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  (void)id;
  (void)info;
  for (int i = 0; i < argc; i++)
    if (read_option(argv[i])) return -1;
  if (value_of[PORT] == UNUSED) return fail("no option port", "");
  if (value_of[PCI] != UNUSED && register_type()) return -1;
  device_init(&device);
  if (value_of[REGISTERS] != UNUSED) map(registers, &register_ops, value_of[REGISTERS], model.size);
  map(port, &port_ops, value_of[PORT], PORT_PAGE_BYTES);
  device.set_line = value_of[BAR] == UNUSED ? set_pin : set_msi;
  return 0;
}
