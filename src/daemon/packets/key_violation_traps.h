/* SPDX-License-Identifier: Apache-2.0 */
/* P_Key and Q_Key violations that programs report: counters and traps (vol 1, chapter 14). */
#ifndef SOFTIB_DAEMON_PACKETS_KEY_VIOLATION_TRAPS_H
#define SOFTIB_DAEMON_PACKETS_KEY_VIOLATION_TRAPS_H

#include <stdbool.h>
#include "base/attributes.h"

struct client;
struct ring_record;

/* Takes a RECORD_KEY_VIOLATION: counts it in the port's PortInfo and sends trap 257 or 258. Returns
 * false if the record is invalid. */
MUST_USE bool key_violation_take_record(struct client *client, const struct ring_record *record);

#endif
