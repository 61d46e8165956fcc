/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that came under a wrong P_Key or Q_Key for queue pairs of this process: softibd is told,
 * because PortInfo's counters and traps 257 and 258 are the port's.
 *
 * The first is told at once. Those that come within a millisecond after it are told together, with
 * the addresses of the last: somebody who floods a port costs softibd no more than that.
 */
#ifndef SOFTIB_RUNTIME_KEY_VIOLATIONS_H
#define SOFTIB_RUNTIME_KEY_VIOLATIONS_H

#include "base/time.h"
#include "net/transport/qp.h"

struct process_runtime;

/* qp_environment.key_violation */
void key_violation_note(const struct qp *qp, const struct packet *packet, enum violated_key key);

/* Tells what is due. */
void key_violations_tell(struct process_runtime *runtime, time_ns now);

#endif
