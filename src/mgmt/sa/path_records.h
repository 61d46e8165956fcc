/* SPDX-License-Identifier: Apache-2.0 */
/* Paths between two ports that satisfy a asked: MTU, rate, lifetime, P_Key, SL (vol 1, chapter 15).
 */
#ifndef SOFTIB_MGMT_SA_PATH_RECORDS_H
#define SOFTIB_MGMT_SA_PATH_RECORDS_H

#include "mgmt/sa/request.h"
#include "wire/sa_records.h"

/* What a PathRecord or MultiPathRecord request asks for, in the words of the former. */
struct path_request {
	uint64_t components;
	struct path_record wanted;
};

static inline bool path_request_has(const struct path_request *asked, unsigned component)
{
	return asked->components & SA_COMPONENT(component);
}

/* MAD_STATUS_OK unless a value that counts is no code at all, or half of a service id is missing.
 */
uint16_t path_request_check(const struct path_request *asked);

/* Where a path goes: a port, a port beyond a router, or a group. */
struct path_target {
	const struct subnet_port *port;	     /* the router's, for another subnet */
	const struct multicast_group *group; /* then port is NULL */
	struct gid gid;
	uint16_t lid; /* 0: any of the port's */
	uint8_t hop_limit;
};

/* The ends as a request names them, by GID, LID or both. Neither: the port is NULL, which means
 * any. */
uint16_t path_find_ends(const struct sa *sa, const struct path_request *asked,
			const struct subnet_port **ret_source, struct path_target *ret_target);

struct path_target path_target_port(const struct sa *sa, const struct subnet_port *port);

/* Adds what the requester may see of the paths from a port to a target, as many as the asked and
 * sa->records want. Returns how many. */
unsigned path_add(struct sa *sa, const struct sa_request *request, const struct path_request *asked,
		  const struct subnet_port *source, const struct path_target *target);

#endif
