/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a fabric's softibd, with error messages for the user. */
#ifndef SOFTIB_CLI_FABRIC_CLIENT_H
#define SOFTIB_CLI_FABRIC_CLIENT_H

#include <stdbool.h>
#include <jansson.h>
#include "base/attributes.h"

struct control_message;

enum { ANSWER_TIMEOUT_MS = 10000 };

/* --name, else SOFTIB_FABRIC, else "default". */
const char *fabric_name_or_default(const char *name);

/* Connects, or prints the reason and returns -errno. */
MUST_USE int fabric_client_open(const char *fabric);
/* Prints why control_connect failed, and what to do. */
void fabric_client_explain(const char *fabric, int error);

/* Sends the request, which it consumes. Returns the answer, or NULL after printing the error. */
MUST_USE json_t *fabric_client_ask(int socket, json_t *request, int timeout_ms);
/* Sends the request, which it consumes, and parses the answer. The message holds the answer's
 * descriptors; control_message_release() frees it. Prints nothing; 0 or -errno. */
MUST_USE int fabric_client_exchange(int socket, json_t *request, int timeout_ms,
				    struct control_message *ret_message, json_t **ret_answer);
/* Whether softibd did what was asked. If not, prints softibd's reason. */
MUST_USE bool fabric_client_is_ok(const json_t *answer);
/* fabric_client_open, fabric_client_ask, close. */
MUST_USE json_t *fabric_ask(const char *fabric, json_t *request);

/* A field of an answer: 0, or "-", where it has none. */
int fabric_client_number(const json_t *object, const char *key);
const char *fabric_client_text(const json_t *object, const char *key);

/* Prints indented JSON. */
void print_json(const json_t *object);

#endif
