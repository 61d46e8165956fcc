/* SPDX-License-Identifier: Apache-2.0 */
/* The header checks that every packet for a queue pair passes before anything else looks at it (vol
 * 1, chapters 9 and 10; transport 5.1). */
#ifndef SOFTIB_NET_TRANSPORT_ADMISSION_H
#define SOFTIB_NET_TRANSPORT_ADMISSION_H

#include "net/transport/qp_state.h"

enum admission {
	ADMITTED,
	DROP_RESERVED_OPCODE,
	DROP_WRONG_TRANSPORT,
	DROP_NO_SUCH_HALF, /* a request for a queue pair that only sends them, or the reverse */
	DROP_WRONG_STATE,
	DROP_BAD_PKEY,
	DROP_BAD_QKEY,
	DROP_WRONG_SOURCE, /* not the port that the queue pair is connected with */
	DROP_WRONG_PATH,   /* asks to migrate, but not to the alternate path */
};

/* A packet for this queue pair or EE context has a wrong P_Key or Q_Key: counts the violation at
 * the port and tells the owner (transport 5.1). */
void admission_violation(struct qp *qp, const struct packet *packet, enum violated_key key);

/* Counts key violations at the port, and migrates to the alternate path when the peer has migrated.
 */
enum admission admission_check(struct qp *qp, const struct packet *packet);

#endif
