/* SPDX-License-Identifier: Apache-2.0 */
/* A management program as softibd's peer sees it: an open port and messages on it. */
#ifndef SOFTIB_TESTS_MAD_PROGRAM_H
#define SOFTIB_TESTS_MAD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "daemon/mad/mad_files.h"
#include "unit/daemon/daemon_fixture.h"

enum { PROGRAM_MAD_BYTES_MAX = 400000 };

/* Returns the fabric's daemon. */
struct daemon *mad_programs_start(const char *topology);
void mad_programs_stop(void);

struct mad_program {
	int port; /* the program's end; -1: closed */
	struct mad_file *file;
	struct endpoint *endpoint;
};
void mad_program_open(struct mad_program *program, const char *host);
void mad_program_close(struct mad_program *program);
/* Registers for class version 1; must succeed. */
uint32_t mad_program_register(struct mad_program *program, uint8_t management_class,
			      enum mad_agent_kind kind, uint64_t methods);

struct program_mad {
	struct mad_port_header header;
	size_t byte_count;
	uint8_t mad[PROGRAM_MAD_BYTES_MAX];
};
/* A request to QP1 of that program's port, with transaction id 1. */
struct program_mad mad_program_request(const struct mad_program *to, uint8_t management_class,
				       uint8_t method);
void mad_program_send(struct mad_program *program, const struct program_mad *mad,
		      size_t byte_count);
/* Answers the MAD's sender, from the agent that got it. */
void mad_program_answer(struct mad_program *program, struct program_mad *mad, size_t byte_count);
/* Whether a MAD arrived, after softibd has settled. */
bool mad_program_receive(struct mad_program *program, struct program_mad *ret_mad);

#endif
