/* SPDX-License-Identifier: Apache-2.0 */
/* The counter attributes beside the ports that hold the counters: both have a struct port_counters.
 */
#ifndef SOFTIB_MGMT_AGENTS_PERFORMANCE_COUNTERS_H
#define SOFTIB_MGMT_AGENTS_PERFORMANCE_COUNTERS_H

#define port_counters port_counters_attribute
#include "wire/performance.h"
#undef port_counters

#endif
