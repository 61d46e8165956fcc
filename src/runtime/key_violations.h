/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that came with a wrong P_Key or Q_Key for queue pairs of this process. softibd gets a
 * report, because PortInfo's counters and traps 257 and 258 belong to the port.
 *
 * The first violation is reported at once. Violations within the next millisecond are reported
 * together, with the addresses of the last one: a peer that floods a port costs softibd one report
 * per millisecond.
 */
#ifndef SOFTIB_RUNTIME_KEY_VIOLATIONS_H
#define SOFTIB_RUNTIME_KEY_VIOLATIONS_H

#include "base/time.h"
#include "net/transport/qp.h"

struct process_runtime;

/* qp_environment.key_violation */
void key_violation_note(const struct qp *qp, const struct packet *packet, enum violated_key key);

/* Sends the reports that are due. */
void key_violations_tell(struct process_runtime *runtime, time_ns now);

#endif
