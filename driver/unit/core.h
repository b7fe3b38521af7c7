// SPDX-License-Identifier: Apache-2.0
// The C interfaces of core and model, and their test vectors, for C++ programs.
#ifndef PMUCONF_DRIVER_UNIT_CORE_H_
#define PMUCONF_DRIVER_UNIT_CORE_H_

// Included outside of extern "C", so that they have C++ linkage.
#include <errno.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "branch.h"
#include "config.h"
#include "constraint.h"
#include "events.h"
#include "model.h"
#include "period.h"
#include "record.h"
#include "state.h"
#include "vectors.h"
#include "window.h"
}

// Initializers name the fields that they set; the other fields are 0.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#endif  // PMUCONF_DRIVER_UNIT_CORE_H_
