/* SPDX-License-Identifier: Apache-2.0 */
/* What hostile_grants knows of hostile_victim: all that a program could guess. */
#ifndef SOFTIB_TESTS_HOSTILE_VICTIM_H
#define SOFTIB_TESTS_HOSTILE_VICTIM_H

enum {
	VICTIM_QKEY = 0x2345,
	VICTIM_PSN = 0x1234,	    /* that its connection expects */
	VICTIM_PEER_QPN = 0x123456, /* to which its connection leads */
	VICTIM_PATTERN = 0xa7,
	VICTIM_TEXT_BYTES = 16,
};

#endif
