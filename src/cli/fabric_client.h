/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a fabric's softibd, with error messages for the user. */
#ifndef SOFTIB_CLI_FABRIC_CLIENT_H
#define SOFTIB_CLI_FABRIC_CLIENT_H

#include <jansson.h>
#include "base/attributes.h"

enum { ANSWER_TIMEOUT_MS = 10000 };

/* --name, else SOFTIB_FABRIC, else "default". */
const char *fabric_name_or_default(const char *name);

/* Connects, or prints the reason and returns -errno. */
MUST_USE int fabric_client_open(const char *fabric);
/* Prints why control_connect failed, and what to do. */
void fabric_client_explain(const char *fabric, int error);

/* Sends the request, which it consumes. Returns the answer, or NULL after printing the error. */
MUST_USE json_t *fabric_client_ask(int socket, json_t *request, int timeout_ms);
/* fabric_client_open, fabric_client_ask, close. */
MUST_USE json_t *fabric_ask(const char *fabric, json_t *request);

/* Prints indented JSON. */
void print_json(const json_t *object);

#endif
