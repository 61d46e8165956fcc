/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a fabric's topology: a number of hosts, a generator's name, or a file. */
#ifndef SOFTIB_DAEMON_TOPOLOGY_SOURCE_H
#define SOFTIB_DAEMON_TOPOLOGY_SOURCE_H

#include "base/attributes.h"

struct daemon_options;
struct fabric;

/* Reports its own errors: file, line and reason. */
MUST_USE int topology_build(const struct daemon_options *options, struct fabric *fabric);

#endif
