/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of softib's vendor class from a port of a host to any node (docs/vendor-class.md). */
#ifndef SOFTIB_CLI_VENDOR_CLIENT_H
#define SOFTIB_CLI_VENDOR_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "cli/mad_engine.h"
#include "mgmt/sa/class_client.h"

struct node_target;

struct vendor_client {
	const char *user; /* the subcommand, for messages */
	struct mad_engine_port port;
	struct class_client client;
	uint16_t lid;  /* of the node that is asked */
	uint16_t pkey; /* the port's own of the default partition */
	struct class_client_result result;
	bool has_result;
	time_ns wait_until;
	bool is_interrupted; /* by a signal */
};

/* host NULL: the first one. Prints the error and returns -errno. */
MUST_USE int vendor_client_open(struct vendor_client *client, const char *user, const char *fabric,
				const char *host, const struct node_target *node);
void vendor_client_close(struct vendor_client *client);

/* Get or Set of an attribute of the node, which is data before and after. false: there was no
 * answer with status 0, and the reason is printed, unless a signal came. */
MUST_USE bool vendor_client_ask(struct vendor_client *client, enum mad_method method,
				uint16_t attribute_id, uint32_t modifier, uint8_t *data,
				size_t byte_count);

/* Waits this long. false: a signal or the end of the fabric came first. */
MUST_USE bool vendor_client_wait(struct vendor_client *client, time_ns time);

#endif
