/* SPDX-License-Identifier: Apache-2.0 */
/* Redirection of a general service class to another QP or port: how a client uses the ClassPortInfo
 * that it gets (management 1.6). */
#ifndef SOFTIB_MGMT_MAD_REDIRECT_H
#define SOFTIB_MGMT_MAD_REDIRECT_H

#include <stdbool.h>
#include "base/attributes.h"
#include "mgmt/mad/mad_message.h"

struct class_port_info;

/* Where the class's data begin in its MADs (management 1.2). ClassPortInfo begins there too. */
size_t mad_data_offset(uint8_t management_class);

/* Whether the response redirects the request: status bit 1, or the ClassPortInfo of another place,
 * which a Get gets with status 0 (management 1.4, 1.6). SMPs are never redirected. */
bool mad_is_redirected(const struct mad_message *answer);

/* The fields of a PathRecord that an address needs. */
struct mad_path {
	uint16_t lid;
	uint8_t sl;
	uint8_t hop_limit; /* more than 1: beyond this subnet, so a GRH is needed */
};

/* The path to a port of our subnet. false: the port has no LID (0), or the GID is not of our
 * subnet.
 */
MUST_USE bool mad_path_within_subnet(const struct gid *gid, const struct gid *own, uint16_t lid,
				     uint8_t sl, struct mad_path *ret_path);

/* Changes the address to the target that a ClassPortInfo names by LID, with RedirectSL and, where
 * they are not 0, RedirectQ_Key, RedirectP_Key and RedirectGID: with a GID the request has a GRH.
 * RedirectQP 0 means QP1. false: RedirectLID is not a unicast LID. */
MUST_USE bool mad_redirect_apply(const struct class_port_info *info, struct mad_address *address);

/* RedirectLID 0: the client needs a path to RedirectGID. */
bool mad_redirect_needs_path(const struct class_port_info *info);
/* As mad_redirect_apply(), with LID, SL and hop limit of this path. */
MUST_USE bool mad_redirect_apply_path(const struct class_port_info *info,
				      const struct mad_path *path, struct mad_address *address);

/* Reads the ClassPortInfo of a response with the redirect status, or of the response to
 * Get(ClassPortInfo). */
void mad_redirect_read(const struct mad_message *answer, struct class_port_info *ret_info);

#endif
