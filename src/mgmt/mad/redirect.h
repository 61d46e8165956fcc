/* SPDX-License-Identifier: Apache-2.0 */
/* Redirection of a general service class to another QP or port (vol 1, chapter 13): what a client
 * does with the ClassPortInfo that it gets. */
#ifndef SOFTIB_MGMT_MAD_REDIRECT_H
#define SOFTIB_MGMT_MAD_REDIRECT_H

#include <stdbool.h>
#include "base/attributes.h"
#include "mgmt/mad/mad_message.h"

struct class_port_info;

/* Where the class's data lie in its MADs; ClassPortInfo is there too. */
size_t mad_data_offset(uint8_t management_class);

/* Whether the answer says that the request has to go elsewhere: status bit 1, never of an SMP. */
bool mad_is_redirected(const struct mad_message *answer);

/* Takes the place that a ClassPortInfo names, if it names one that can be reached without asking
 * for a path: a unicast LID and a QP. What it leaves open stays as it was. */
MUST_USE bool mad_redirect_apply(const struct class_port_info *info, struct mad_address *address);

/* The same from the MAD that carries it: an answer with the redirect status, or the answer to
 * Get(ClassPortInfo). */
MUST_USE bool mad_redirect_follow(const struct mad_message *answer, struct mad_address *address);

#endif
