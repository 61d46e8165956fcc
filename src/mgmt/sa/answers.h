/* SPDX-License-Identifier: Apache-2.0 */
/* Responses to requests: calls the function of the attribute and method, and sends its records. */
#ifndef SOFTIB_MGMT_SA_ANSWERS_H
#define SOFTIB_MGMT_SA_ANSWERS_H

#include <stdint.h>
#include "mgmt/mad/mad_message.h"

struct sa;
struct sa_request;

/* Answers a request. Without room for the response, the requester will repeat the request. */
void answers_make(struct sa *sa, const struct sa_request *request);

/* Sends the response to a Get or GetTable whose records are in sa->records. */
void answers_complete(struct sa *sa, const struct sa_request *request, uint16_t status);

/* Returns the MAD with this status. */
void answers_refuse(struct sa *sa, const struct mad_message *request, uint16_t status);

unsigned answers_transmit(struct sa *sa, unsigned messages_max, struct mad_message ret_messages[]);

#endif
