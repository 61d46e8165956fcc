/* SPDX-License-Identifier: Apache-2.0 */
/* The header checks that every packet for a queue pair passes before anything looks at it (vol 1,
 * chapters 9 and 10). */
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
	DROP_WRONG_SOURCE, /* not the port that the connection is with */
	DROP_WRONG_PATH,   /* asks to migrate, but not to the alternate path */
};

/* A packet for this queue pair or EE context came under a wrong key: counts it at the port and
 * tells the owner. */
void admission_violation(struct qp *qp, const struct packet *packet, enum violated_key key);

/* Counts key violations at the port, and goes over to the alternate path when the peer has. */
enum admission admission_check(struct qp *qp, const struct packet *packet);

#endif
