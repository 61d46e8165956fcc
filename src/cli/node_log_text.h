/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a node's log as text and JSON. */
#ifndef SOFTIB_CLI_NODE_LOG_TEXT_H
#define SOFTIB_CLI_NODE_LOG_TEXT_H

#include <jansson.h>
#include "wire/vendor_softib.h"

enum { NODE_LOG_TEXT_BYTES = 96 };

/* "port 1 is Active", "trap 128", ... Values that no softib sends are numbers. */
void node_log_text(const struct node_log_entry *entry, char ret_text[static NODE_LOG_TEXT_BYTES]);
json_t *node_log_json(const struct node_log_entry *entry, uint32_t number);

#endif
