/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A softibd for tests, in a thread of the test: one host with two adapters of one port each (LIDs 1
 * and 2), one program, no fabric; packets that come up go down again to the port of their DLID.
 */
#ifndef SOFTIB_TESTS_FAKE_SOFTIBD_H
#define SOFTIB_TESTS_FAKE_SOFTIBD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "ipc/protocol.h"

enum { FAKE_ADAPTERS = 2, FAKE_RING_ID = 77 };

struct fake_softibd {
	char runtime[64];
	pthread_t thread;
	int listener;
	int control;
	int stop;	  /* eventfd */
	int doorbells[2]; /* the program's, ours */
	int page_file, process_file, direct_file, rkey_export_file;
	struct fabric_page *page;
	uint8_t *process, *direct, *rkey_export;
	struct ring_consumer up;
	struct ring_producer down;
	uint32_t next_qpn;
	/* Set by the test, read by the thread. */
	uint32_t verdict;	/* enum resolve_verdict, atomic */
	uint32_t accepts_again; /* a program that hung up is no reason to end, atomic */
	/* Counted by the thread. */
	uint32_t retries; /* answers "retry" still to be given, atomic */
	uint32_t question_count;
	uint32_t packet_count;
	uint32_t ring_fetch_count;
	uint32_t qkey_violations, pkey_violations, violation_records;
	struct key_violation violation; /* the last that was told, and where */
	uint16_t violation_port;
};

/* Also points SOFTIB_RUNTIME_DIR there. */
int fake_softibd_start(struct fake_softibd *softibd);
/* Hangs up, as a death does. */
void fake_softibd_stop(struct fake_softibd *softibd);
/* Waits in the thread's stead: nothing of its is in use after. */
void fake_softibd_remove(struct fake_softibd *softibd);

#endif
