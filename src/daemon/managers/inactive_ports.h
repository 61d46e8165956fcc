/* SPDX-License-Identifier: Apache-2.0 */
/* Links that a subnet manager has still to bring up. */
#ifndef SOFTIB_DAEMON_MANAGERS_INACTIVE_PORTS_H
#define SOFTIB_DAEMON_MANAGERS_INACTIVE_PORTS_H

#include <stdint.h>

struct fabric;
struct port;

/* Ports with a cable that are not Active, as far as discovery from this port gets; of the whole
 * fabric when `from` is NULL. */
uint32_t inactive_ports_count(const struct fabric *fabric, const struct port *from);

#endif
