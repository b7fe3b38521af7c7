/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests of a core PMU's port. */
#ifndef REFPMU_PORT_STIMULUS_H
#define REFPMU_PORT_STIMULUS_H

#include "port.h"

extern const struct refpmu_port_handler refpmu_stimulus_handlers[];
struct refpmu_journal *refpmu_stimulus_journal(struct refpmu_port *port, unsigned int cpu);

#endif /* REFPMU_PORT_STIMULUS_H */
