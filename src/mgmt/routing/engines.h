/* SPDX-License-Identifier: Apache-2.0 */
/* The routing engines by name (management 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_ENGINES_H
#define SOFTIB_MGMT_ROUTING_ENGINES_H

#include "mgmt/routing/engine.h"

/* name NULL: the default engine. Returns NULL if no engine has this name. */
const struct routing_engine *routing_engine_find(const char *name);

/* Ends with an engine whose name is NULL. */
extern const struct routing_engine routing_engines[];

#endif
