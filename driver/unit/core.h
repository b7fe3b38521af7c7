// SPDX-License-Identifier: Apache-2.0
// The C interfaces of core and model, and their test vectors, for C++ programs.
#ifndef PMUCONF_DRIVER_UNIT_CORE_H_
#define PMUCONF_DRIVER_UNIT_CORE_H_

// Outside of extern "C", so that they come with their C++ linkage.
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

// The rows name the fields they set and leave the others 0.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#endif  // PMUCONF_DRIVER_UNIT_CORE_H_
