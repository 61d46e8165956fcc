/* SPDX-License-Identifier: Apache-2.0 */
/* Nue: routing on the channel dependency graph, for any graph and any number of VLs (management
 * 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_NUE_H
#define SOFTIB_MGMT_ROUTING_NUE_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Free of credit loops with the available VLs; one is enough. Paths are as short and as evenly
 * spread as the VLs allow. Accepts every graph. -ENOMEM. */
MUST_USE int nue_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
