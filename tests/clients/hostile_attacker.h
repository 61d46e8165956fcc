/* SPDX-License-Identifier: Apache-2.0 */
/* A program that speaks to softibd itself, past the verbs, and may do with its rings what it likes.
 */
#ifndef SOFTIB_TESTS_HOSTILE_ATTACKER_H
#define SOFTIB_TESTS_HOSTILE_ATTACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
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

/* The files that softibd gives with "attach". */
enum attached_file { FABRIC_PAGE, PROCESS_MEMORY, EXPORTED_RKEYS, ATTACHED_FILES };

struct attacker {
	const char *socket_path, *host_name;
	int socket;
	int files[ATTACHED_FILES];
	uint8_t *memory;
	struct ring_producer up;
	struct ring_consumer down;
	int own_doorbell, softibd_doorbell;
	uint16_t own_lid, victim_lid, sm_lid;
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

/* Connects as a program of the host; attacker_attach also takes the rings of a program. */
void attacker_say_hello(struct attacker *attacker);
void attacker_attach(struct attacker *attacker);
void attacker_leave(struct attacker *attacker);

int attacker_ask(struct attacker *attacker, const char *text, struct control_message *ret_message);
/* The request, with a descriptor unless it is -1, ends with that errno and a text. */
bool attacker_is_refused(struct attacker *attacker, const char *text, int descriptor, int error);
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

/* The descriptor that comes with the answer to a request. */
int attacker_fetch(struct attacker *attacker, const char *text, unsigned index);
/* The request, with a descriptor unless it is -1, succeeds. */
void attacker_must(struct attacker *attacker, const char *text, int descriptor);

/* Another program of the same host, which does no harm. */
struct attacker honest_program(const struct attacker *attacker);

/* softibd has closed its end, or does so soon; it has not. */
bool socket_is_closed(int socket);
bool socket_is_open(int socket);
ssize_t socket_put(int socket, const void *bytes, size_t byte_count, const int *descriptors,
		   unsigned descriptor_count);

/* Descriptors that are not what any command takes; returns how many. */
enum { WRONG_MAX = 16 };
unsigned wrong_descriptors(const struct attacker *attacker, int ret_wrong[WRONG_MAX]);

#define OPEN_PORT "{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":1}"
/* An agent of class Device Management that gets Gets. */
#define REGISTER_DEVICE                                                                            \
	"{\"command\":\"mad-register\",\"class\":6,\"version\":1,\"oui\":0,\"kind\":\"raw\","      \
	"\"methods_low\":\"2\",\"methods_high\":\"0\"}"

struct attack {
	const char *name; /* NULL: the last one */
	void (*run)(struct attacker *attacker);
};

/*
 * PROGRAM SOCKET HOST ATTACK SEED VICTIM [SM-LID]
 *
 * VICTIM is a file with "LID QPN" of somebody else's queue pair, as kill_traffic writes it; SM-LID
 * is the subnet manager's port. Exit code 0: the attack ran to its end, softibd did with this
 * client what the attack expects, and what must be refused was refused.
 */
int attacker_main(int argument_count, char **arguments, const struct attack attacks[]);

#endif
