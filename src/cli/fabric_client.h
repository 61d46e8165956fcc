/* SPDX-License-Identifier: Apache-2.0 */
/* A question to a fabric, with the errors that people see. */
#ifndef SOFTIB_CLI_FABRIC_CLIENT_H
#define SOFTIB_CLI_FABRIC_CLIENT_H

#include <jansson.h>
#include "base/attributes.h"

enum { ANSWER_TIMEOUT_MS = 10000 };

/* --name, else SOFTIB_FABRIC, else "default". */
const char *fabric_name_or_default(const char *name);

/* Connects; prints why not and returns -errno. */
MUST_USE int fabric_client_open(const char *fabric);
/* Why control_connect failed, and what to do. */
void fabric_client_explain(const char *fabric, int error);

/* Asks; the request is used up. Returns the answer, or NULL after printing what went wrong. */
MUST_USE json_t *fabric_client_ask(int socket, json_t *request, int timeout_ms);
/* fabric_client_open, fabric_client_ask, close. */
MUST_USE json_t *fabric_ask(const char *fabric, json_t *request);

/* Prints JSON as people and jq like it. */
void print_json(const json_t *object);

#endif
