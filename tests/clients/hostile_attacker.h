/* SPDX-License-Identifier: Apache-2.0 */
/* A program that speaks to softibd itself, past the verbs, and may do with its rings what it likes.
 */
#ifndef SOFTIB_TESTS_HOSTILE_ATTACKER_H
#define SOFTIB_TESTS_HOSTILE_ATTACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/random.h"
#include "base/ring.h"
#include "ipc/control_socket.h"
#include "ipc/protocol.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum {
	ANSWER_MS = 60000,
	ADAPTER_PORT = 1, /* adapter 0, port 1 */
};

struct attacker {
	const char *socket_path, *host_name;
	int socket;
	uint8_t *memory;
	struct ring_producer up;
	struct ring_consumer down;
	int own_doorbell, softibd_doorbell;
	uint16_t own_lid, victim_lid;
	uint32_t victim_qpn;
	struct random random;
};

/* Its end of a ring to the victim. */
struct direct {
	void *memory;
	int doorbell;
	struct ring_producer out;
	struct ring_shared *in;
};

void attacker_attach(struct attacker *attacker);
void attacker_leave(struct attacker *attacker);

int attacker_ask(struct attacker *attacker, const char *text, struct control_message *ret_message);
bool attacker_is_cut_off(const struct attacker *attacker, int wait_ms);
bool attacker_is_served(struct attacker *attacker);

struct ring_record *attacker_reserve(struct ring_producer *producer, uint32_t byte_count);
void attacker_put_question(struct attacker *attacker, uint32_t id, uint16_t dlid, uint32_t qpn);
/* Returns how many answers there were. */
uint32_t attacker_read_answers(struct attacker *attacker, struct resolve_answer *ret_last);

/* Asks until softibd gives a ring to the victim's queue pair; returns its id. */
uint32_t attacker_find_ring(struct attacker *attacker);
/* Maps that ring. ret_message: softibd's answer, which the caller releases. */
void attacker_fetch_ring(struct attacker *attacker, uint32_t id, struct direct *ret_direct,
			 struct control_message *ret_message);
void attacker_get_ring(struct attacker *attacker, struct direct *ret_direct);
void direct_close(struct direct *direct);

#endif
