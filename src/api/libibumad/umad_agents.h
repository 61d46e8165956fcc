/* SPDX-License-Identifier: Apache-2.0 */
/* The agents that this program has registered on each open port. */
#ifndef SOFTIB_API_LIBIBUMAD_UMAD_AGENTS_H
#define SOFTIB_API_LIBIBUMAD_UMAD_AGENTS_H

#include <stdbool.h>

/* Sending for an unregistered agent fails at once, as on Linux. */
bool agent_is_registered(int port, int agent);
/* Called when a port is opened or closed. */
void agents_forget(int port);

#endif
