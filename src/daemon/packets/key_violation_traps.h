/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that came under a wrong key for queue pairs of programs, as these tell of them. */
#ifndef SOFTIB_DAEMON_PACKETS_KEY_VIOLATION_TRAPS_H
#define SOFTIB_DAEMON_PACKETS_KEY_VIOLATION_TRAPS_H

#include <stdbool.h>
#include "base/attributes.h"

struct client;
struct ring_record;

/* RECORD_KEY_VIOLATION: counts in the port's PortInfo, and makes trap 257 or 258. false: it makes
 * no sense. */
MUST_USE bool key_violation_take_record(struct client *client, const struct ring_record *record);

#endif
