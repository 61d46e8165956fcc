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

/* What a path to a GID says of how to get there. */
struct mad_path {
	uint16_t lid;
	uint8_t sl;
	uint8_t hop_limit; /* more than 1: beyond this subnet, so that a GRH is needed */
};

/* Takes the place that a ClassPortInfo names by its LID: with the SL that is beside it, and QP,
 * Q_Key, P_Key and GID as far as they are there. RedirectQP 0 stands for QP1; other fields that are
 * 0 leave the address as it was. false: RedirectLID is no unicast LID. */
MUST_USE bool mad_redirect_apply(const struct class_port_info *info, struct mad_address *address);

/* RedirectLID 0 asks for a path to RedirectGID. */
bool mad_redirect_needs_path(const struct class_port_info *info);
/* The same as mad_redirect_apply() with that path. */
MUST_USE bool mad_redirect_apply_path(const struct class_port_info *info,
				      const struct mad_path *path, struct mad_address *address);

/* From an answer with the redirect status, or the answer to Get(ClassPortInfo). */
void mad_redirect_read(const struct mad_message *answer, struct class_port_info *ret_info);

#endif
