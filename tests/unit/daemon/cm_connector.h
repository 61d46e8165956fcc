/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a command socket, an event channel and an id, as softibd's peer sees it. */
#ifndef SOFTIB_TESTS_CM_CONNECTOR_H
#define SOFTIB_TESTS_CM_CONNECTOR_H

#include <stdint.h>
#include "ipc/cm_protocol.h"
#include "unit/daemon/daemon_fixture.h"

enum { CONNECTOR_ID = 2 };

struct connector {
	struct daemon *softibd;
	int control;
	int commands;
	int events;
	uint32_t channel;
	uint32_t id;
};

struct connector connector_open(struct daemon *softibd, const char *host);
void connector_close(struct connector *connector);

/* Both return the descriptor that came with the answer, or -1. */
int connector_receive_answer(struct connector *connector, struct cm_answer *ret_answer);
int connector_ask(struct connector *connector, const struct cm_command *command,
		  struct cm_answer *ret_answer);
/* A command about the connector's id. Returns the error of the answer. */
int32_t connector_order(struct connector *connector, enum cm_command_kind kind);

#endif
