/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one port in the rendered tree. */
#ifndef SOFTIB_DAEMON_TREE_PORT_H
#define SOFTIB_DAEMON_TREE_PORT_H

#include "base/attributes.h"

struct port;

/* Below `folder` (.../ports/N), which exists. The first error is returned, the rest is still
 * written. */
MUST_USE int tree_port_create(const char *folder, const struct port *port);
MUST_USE int tree_port_write(const char *folder, const struct port *port);
MUST_USE int tree_port_write_counters(const char *folder, const struct port *port);

#endif
