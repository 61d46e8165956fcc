/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to requests: which function of which attribute makes them, and how they are sent. */
#ifndef SOFTIB_MGMT_SA_ANSWERS_H
#define SOFTIB_MGMT_SA_ANSWERS_H

#include <stdint.h>
#include "mgmt/mad/mad_message.h"

struct sa;
struct sa_request;

/* Answers a request, unless there is no room for it: then the requester will repeat it. */
void answers_make(struct sa *sa, const struct sa_request *request);

/* The answer to a Get or GetTable whose records are in sa->records now. */
void answers_complete(struct sa *sa, const struct sa_request *request, uint16_t status);

/* The same MAD back, with this status. */
void answers_refuse(struct sa *sa, const struct mad_message *request, uint16_t status);

unsigned answers_transmit(struct sa *sa, unsigned messages_max, struct mad_message ret_messages[]);

#endif
