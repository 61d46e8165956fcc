/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server of softib perf --serve: /metrics in the text format of Prometheus. */
#ifndef SOFTIB_CLI_PERF_SERVER_H
#define SOFTIB_CLI_PERF_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/attributes.h"

struct perf_source;

/* "127.0.0.1:9683" or "[::1]:9683". Why the text is refused, or NULL. */
const char *perf_server_address(const char *text, bool allows_remote,
				struct sockaddr_storage *ret_address);

/* Serves until a signal. Returns the exit code. */
MUST_USE int perf_server_run(struct perf_source *source, const char *address, bool allows_remote);

#endif
