/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to subnet administration from a port of a host, one at a time (management 4). */
#ifndef SOFTIB_CLI_SA_SESSION_H
#define SOFTIB_CLI_SA_SESSION_H

#include <stdint.h>
#include "base/attributes.h"
#include "cli/mad_engine.h"
#include "mgmt/sa/sa_client.h"

struct sa_session {
	struct mad_engine_port port;
	struct sa_client client;
	struct sa_client_result *awaited; /* NULL once the result is there */
};

/* user: the subcommand, for messages. host NULL: the first one. Prints the error and returns
 * -errno. */
MUST_USE int sa_session_open(const char *user, const char *fabric, const char *host,
			     struct sa_session *ret_session);
void sa_session_close(struct sa_session *session);

/* A Get, Set, Delete or GetTable. 0: there is a response with status 0, and the caller frees the
 * result's table. Else prints the error, or the status that refuses the request, and returns
 * -errno. */
MUST_USE int sa_session_ask(struct sa_session *session, enum mad_method method,
			    uint16_t attribute_id, uint64_t component_mask, const uint8_t *data,
			    size_t byte_count, struct sa_client_result *ret_result);

#endif
