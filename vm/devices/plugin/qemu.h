/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of QEMU's interface that the plugin uses. An emulator that loads modules exports these
 * functions to them, and so to plugins. The project declares them itself, because no package has a
 * header of them.
 */
#ifndef PMUCONF_DEVICES_QEMU_H_
#define PMUCONF_DEVICES_QEMU_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* The layout of structures, by the major version of QEMU. The runner refuses others. */
#if QEMU_MAJOR == 7
#define QEMU_PLUGIN_VERSION 1
#define DEVICE_CLASS_BYTES 176
#elif QEMU_MAJOR == 10 || QEMU_MAJOR == 11
#define QEMU_PLUGIN_VERSION 3
#define DEVICE_CLASS_BYTES 184 /* with sync_config */
#else
#error "the layout of this QEMU is unknown"
#endif

#define MEMORY_REGION_BYTES 2048 /* more than any version has: 272 in 7.2 */

typedef uint64_t hwaddr;
typedef struct MemoryRegion MemoryRegion;
typedef struct Object Object;
typedef struct ObjectClass ObjectClass;
typedef struct DeviceState DeviceState;
typedef struct PCIDevice PCIDevice;
typedef struct IRQState* qemu_irq;
typedef struct CPUState CPUState;
typedef struct Error Error;

typedef struct MemoryRegionOps {
  uint64_t (*read)(void* opaque, hwaddr at, unsigned size);
  void (*write)(void* opaque, hwaddr at, uint64_t value, unsigned size);
  void (*read_with_attrs)(void);
  void (*write_with_attrs)(void);
  int endianness; /* 2: little */
  struct {
    unsigned min_access_size, max_access_size;
    bool unaligned;
    void (*accepts)(void);
  } valid;
  struct {
    unsigned min_access_size, max_access_size;
    bool unaligned;
  } impl;
} MemoryRegionOps;

typedef struct InterfaceInfo {
  const char* type;
} InterfaceInfo;

typedef struct TypeInfo {
  const char *name, *parent;
  size_t instance_size, instance_align;
  void (*instance_init)(Object*);
  void (*instance_post_init)(Object*);
  void (*instance_finalize)(Object*);
  bool abstract;
  size_t class_size;
  void (*class_init)(ObjectClass*, void*);
  void (*class_base_init)(ObjectClass*, void*);
  void* class_data;
  InterfaceInfo* interfaces;
} TypeInfo;

/* The members of PCIDeviceClass after its DeviceClass. */
struct pci_class {
  void (*realize)(PCIDevice*, Error**);
  void (*exit)(PCIDevice*);
  void (*config_read)(void);
  void (*config_write)(void);
  uint16_t vendor, device;
  uint8_t revision;
  uint16_t class;
};

extern __thread CPUState* current_cpu; /* null outside of the threads of CPUs */
CPUState* qemu_get_cpu(int number);    /* null if there is none */
MemoryRegion* get_system_memory(void);
void memory_region_init_io(MemoryRegion*, Object* owner, const MemoryRegionOps*, void* opaque,
                           const char* name, uint64_t size);
void memory_region_add_subregion_overlap(MemoryRegion*, hwaddr, MemoryRegion* sub, int priority);
Object* object_resolve_path_type(const char* path, const char* type, bool* ambiguous);
ObjectClass* object_class_by_name(const char* name);
size_t object_type_get_instance_size(const char* name);
void* type_register(const TypeInfo*);
qemu_irq qdev_get_gpio_in(DeviceState*, int n);
void qemu_set_irq(qemu_irq, int level);
void pci_register_bar(PCIDevice*, int region, uint8_t type, MemoryRegion*);
int msi_init(PCIDevice*, uint8_t offset, unsigned vectors, bool msi64, bool per_vector_mask,
             Error**);
void msi_notify(PCIDevice*, unsigned vector);

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;

#endif /* PMUCONF_DEVICES_QEMU_H_ */
