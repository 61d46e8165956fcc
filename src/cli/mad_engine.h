/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an engine that speaks MADs (a class manager, a client) in real time on a port of a host. */
#ifndef SOFTIB_CLI_MAD_ENGINE_H
#define SOFTIB_CLI_MAD_ENGINE_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "cli/host_port.h"
#include "mgmt/mad/mad_message.h"

enum { MAD_ENGINE_AGENTS_MAX = 4 };

/* The engine's functions, which get its context. */
struct mad_engine {
	void *context;
	void (*receive)(void *context, time_ns now, const struct mad_message *message);
	unsigned (*transmit)(void *context, time_ns now, unsigned messages_max,
			     struct mad_message ret_messages[]);
	time_ns (*deadline)(const void *context);
	/* Optional: whether the work is done. Without it the engine runs until SIGTERM or SIGINT.
	 */
	bool (*is_done)(void *context, time_ns now);
	/* Optional: called after such a signal until it returns true. Without it the engine ends at
	 * once. */
	bool (*leave)(void *context, time_ns now);
	/* Optional: a further descriptor to wait for, -1: none, and its handler. */
	int descriptor;
	void (*readable)(void *context, time_ns now);
};

/* The port with the agents that the engine sends from: one per management class. */
struct mad_engine_port {
	struct host_port host;
	struct {
		uint8_t management_class;
		struct mad_agent_identity identity;
	} agents[MAD_ENGINE_AGENTS_MAX];
	unsigned agent_count;
};

/* Registers an agent of kind MAD_AGENT_RAW for this class; methods: those of requests and messages
 * that it takes unasked, 0: only responses. Its identity's number is the upper half of the
 * transaction ids of the engine's requests. Prints the error and returns -errno. */
MUST_USE int mad_engine_register(struct mad_engine_port *port,
				 const struct mad_agent_options *options,
				 struct mad_agent_identity *ret_identity);

/* Until the work is done (0), a signal (0), or softibd is gone (-errno, after printing it). */
MUST_USE int mad_engine_run(struct mad_engine_port *port, const struct mad_engine *engine);

void mad_engine_close(struct mad_engine_port *port);

#endif
