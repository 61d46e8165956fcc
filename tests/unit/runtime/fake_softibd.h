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
	int doorbells[2]; /* the program's end, our end */
	int page_file, process_file, direct_file, rkey_export_file;
	struct fabric_page *page;
	uint8_t *process, *direct, *rkey_export;
	struct ring_consumer up;
	struct ring_producer down;
	uint32_t next_qpn;
	/* Set by the test, read by the thread. */
	uint32_t verdict;	 /* enum resolve_verdict, atomic */
	uint32_t silent_adapter; /* questions of this adapter, counted from 1, get no answer, atomic
				  */
	uint32_t accepts_again;	 /* whether to go on after a program hung up, atomic */
	/* Counted by the thread. */
	uint32_t retries; /* "retry" answers still to be given, atomic */
	uint32_t question_count;
	uint32_t packet_count;
	uint32_t ring_fetch_count;
	uint32_t qkey_violations, pkey_violations, violation_records;
	struct key_violation violation; /* the last key violation that was reported, and its port */
	uint16_t violation_port;
};

/* Also points SOFTIB_RUNTIME_DIR there. */
int fake_softibd_start(struct fake_softibd *softibd);
/* Hangs up, as when softibd dies. */
void fake_softibd_stop(struct fake_softibd *softibd);
/* Waits for the thread to end; nothing of the thread is in use afterwards. */
void fake_softibd_remove(struct fake_softibd *softibd);

#endif
