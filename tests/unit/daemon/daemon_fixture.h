/* SPDX-License-Identifier: Apache-2.0 */
/* A whole softibd in the test's own process, stepped by hand, and programs that talk to it. */
#ifndef SOFTIB_TESTS_DAEMON_FIXTURE_H
#define SOFTIB_TESTS_DAEMON_FIXTURE_H

#include <jansson.h>
#include "daemon/core/client.h"
#include "daemon/daemon.h"
#include "ipc/protocol.h"

struct packet;

/* A runtime directory of its own, and a fabric of this topology whose ports are all Active. */
struct daemon *fixture_start(const char *topology);
struct daemon *fixture_start_with(struct daemon_options options);
void fixture_stop(void);
/* fixture_stop() as a cmocka teardown function. */
int fixture_tear_down(void **state);
/* Makes only the runtime directory; fixture_stop removes it. */
const char *fixture_directory(void);

/* Port 1 of the host's first adapter. */
struct port *fixture_port(const char *host);

/* Steps until nothing is left to do. */
void fixture_settle(void);
/* Steps until the function returns true; the test fails if it never does. */
void fixture_await(bool (*is_so)(void));

/* As the softib command, and as a program. */
int fixture_connect(void);
int fixture_connect_program(void);
/* Sends a command and returns the reply; the test fails if none comes. */
json_t *fixture_ask(int socket, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sends a command with a descriptor. */
json_t *fixture_ask_about(int socket, int descriptor, const char *text);
/* Sends a command that must succeed. */
void fixture_order(int socket, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether softibd closes this connection. */
bool fixture_is_cut_off(int socket);

/* An attached program as softibd's peer sees it. */
struct program {
	int socket;
	int doorbell; /* the program sleeps on it */
	int softibd_doorbell;
	const struct fabric_page *page;
	uint8_t *memory;
	struct ring_producer up;
	struct ring_consumer down;
	struct flow_counters *flows;
	uint32_t first_qpn;
	uint16_t lid;
};
void program_start(struct program *program, const char *host);
void program_end(struct program *program);
/* A fabric, and a program on each of the hosts h1 and h2. */
struct daemon *fixture_start_pair(const char *topology, struct program *ret_a,
				  struct program *ret_b);
/* The next record of the down ring, after softibd has settled; NULL when there is none. */
const struct ring_record *program_next(struct program *program);
/* The next record of this kind; other records are skipped. */
const struct ring_record *program_next_of(struct program *program, enum record_kind kind);
struct resolve_answer program_resolve(struct program *program, uint16_t dlid, uint32_t qpn,
				      uint16_t pkey);
/* Commits a record of the up ring, and rings if softibd sleeps. */
void program_show(struct program *program, struct ring_record *record);
void program_send_packet(struct program *program, const struct packet *packet);
/* A UD packet of a few bytes. */
void program_send(struct program *program, uint16_t dlid, uint32_t qpn, const char *text);

#endif
