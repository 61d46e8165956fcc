/* SPDX-License-Identifier: Apache-2.0 */
/* A query for records: those that match the component mask, among those that the requester may see
 * (management 4.5). */
#ifndef SOFTIB_MGMT_SA_SA_QUERY_H
#define SOFTIB_MGMT_SA_SA_QUERY_H

#include "mgmt/sa/request.h"

struct sa_query {
	struct sa *sa;
	const struct sa_request *request;
	struct sa_match match;
};

/* handled: components that the caller compares itself. */
void sa_query_begin(struct sa_query *query, struct sa *sa, const struct sa_request *request,
		    const struct sa_components *components, uint64_t handled);

/* Adds the record if it matches. It is encoded at sa_records_place(). */
void sa_query_keep_if_wanted(struct sa_query *query, const uint8_t *place);

/* Visits the end ports that the requester sees. If the request has this component, visits only the
 * port with this LID, which may be the base LID or another of its range; so the component must be
 * in handled. Stops when no more records are wanted. */
typedef void sa_visit_function(struct sa_query *query, const struct subnet_port *port);
void sa_query_visit_ports(struct sa_query *query, unsigned lid_component, uint16_t lid,
			  sa_visit_function *visit);
/* The whole query, for records that begin with the LID of their port, which is component 0. */
uint16_t sa_query_ports(struct sa *sa, const struct sa_request *request,
			const struct sa_components *components, sa_visit_function *visit);

static inline bool sa_query_wants_more(const struct sa_query *query)
{
	return sa_records_wants_more(&query->sa->records);
}

static inline uint8_t *sa_query_place(struct sa_query *query)
{
	return sa_records_wants_more(&query->sa->records) ? sa_records_place(&query->sa->records)
							  : NULL;
}

#endif
