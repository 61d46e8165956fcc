/* SPDX-License-Identifier: Apache-2.0 */
/* Paths between two ports that satisfy a request: MTU, rate, lifetime, P_Key, SL (management 4.6).
 */
#ifndef SOFTIB_MGMT_SA_PATH_RECORDS_H
#define SOFTIB_MGMT_SA_PATH_RECORDS_H

#include "mgmt/sa/request.h"
#include "wire/sa_records.h"

/* A PathRecord or MultiPathRecord request, expressed as a PathRecord. */
struct path_request {
	uint64_t components;
	struct path_record wanted;
};

static inline bool path_request_has(const struct path_request *asked, unsigned component)
{
	return asked->components & SA_COMPONENT(component);
}

/* MAD_STATUS_OK unless a value is not a legal code, or half of a service id is missing. */
uint16_t path_request_check(const struct path_request *asked);

/* The destination of a path: a port, a port beyond a router, or a group. */
struct path_target {
	const struct subnet_port *port;	     /* the router's port, for another subnet */
	const struct multicast_group *group; /* then port is NULL */
	struct gid gid;
	uint16_t lid; /* 0: any LID of the port */
	uint8_t hop_limit;
};

/* The ends that a request names by GID, LID or both. Neither: the port is NULL, which means any
 * port. */
uint16_t path_find_ends(const struct sa *sa, const struct path_request *asked,
			const struct subnet_port **ret_source, struct path_target *ret_target);

struct path_target path_target_port(const struct sa *sa, const struct subnet_port *port);

/* Adds the paths from a port to a target that the requester may see, at most as many as the request
 * and sa->records allow. Returns their number. */
unsigned path_add(struct sa *sa, const struct sa_request *request, const struct path_request *asked,
		  const struct subnet_port *source, const struct path_target *target);

#endif
