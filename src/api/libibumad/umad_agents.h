/* SPDX-License-Identifier: Apache-2.0 */
/* Which agents this program has registered on which open port. */
#ifndef SOFTIB_API_LIBIBUMAD_UMAD_AGENTS_H
#define SOFTIB_API_LIBIBUMAD_UMAD_AGENTS_H

#include <stdbool.h>

/* Sending for an agent that is not there is an error at once, as with Linux. */
bool agent_is_registered(int port, int agent);
/* The port is new, or closed. */
void agents_forget(int port);

#endif
