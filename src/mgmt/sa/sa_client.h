/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of subnet administration: requests to the SA of one port, with timeouts and
 * retries (management 4). Paths, multicast groups, services, any Get, Set, Delete or GetTable.
 *
 * Requests wait until fewer are under way. Each ends with exactly one result. MADs and time go in;
 * MADs come out.
 *
 *	sa_client_query_path(client, &wanted, components, purpose) ...
 *	sa_client_receive(client, now, &message) for responses of class SubnAdm with agent_number
 *	count = sa_client_transmit(client, now, ...)
 *	while (sa_client_take_result(client, &result)) ...
 */
#ifndef SOFTIB_MGMT_SA_SA_CLIENT_H
#define SOFTIB_MGMT_SA_SA_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/mad/rmpp_engine.h"
#include "mgmt/mad/transactions.h"
#include "wire/sa_components.h"
#include "wire/sa_mad.h"
#include "wire/sa_records.h"

enum { SA_CLIENT_WAITING_MAX = 65536 };

/* 0: the default. */
struct sa_client_options {
	uint32_t agent_number; /* the upper half of its transaction ids */
	unsigned requests_max; /* requests under way at once */
	time_ns timeout;       /* of one try */
	unsigned tries;
};

enum sa_client_outcome {
	SA_CLIENT_ANSWERED,  /* with status 0 */
	SA_CLIENT_REFUSED,   /* with another one */
	SA_CLIENT_TIMED_OUT, /* no response, or there is no SA */
};

struct sa_client_result {
	struct mad_purpose purpose;
	enum sa_client_outcome outcome;
	uint16_t status; /* of the MAD */
	uint8_t method;	 /* of the request */
	uint16_t attribute_id;
	uint8_t data[SA_DATA_BYTES]; /* the record, if there was a response: use *_decode() */
	/* Of sa_client_get_table(): from malloc, the caller frees it; NULL without records. */
	uint8_t *table;
	size_t record_count;
	size_t record_bytes; /* from one record to the next */
};

struct sa_client {
	struct mad_transactions transactions;
	struct rmpp *tables;   /* NULL until a table is requested */
	struct mad_address sa; /* the address of the SA; LID 0: unknown */
	struct list waiting;   /* requests that wait until fewer are under way */
	struct list on_wire;
	struct list redirected; /* requests redirected by GID, which wait for the path */
	struct list results;
	struct gid own_gid; /* zero: unknown */
	unsigned waiting_count;
};

MUST_USE int sa_client_init(struct sa_client *client, const struct sa_client_options *options);
void sa_client_release(struct sa_client *client);

/* PortInfo.MasterSMLID and MasterSMSL, and a P_Key shared with the SA (usually the default one).
 * LID 0: there is no SA, and requests time out at once. */
void sa_client_set_sa(struct sa_client *client, uint16_t master_sm_lid, uint8_t master_sm_sl,
		      uint16_t pkey);

/* The GID of the port. Without it the client can't follow a redirection by GID alone. */
void sa_client_set_own_gid(struct sa_client *client, const struct gid *gid);

/* Any request of one MAD: Get, Set, Delete. -ENOBUFS: too many requests wait, -ENOMEM. */
MUST_USE int sa_client_ask(struct sa_client *client, enum mad_method method, uint16_t attribute_id,
			   uint64_t component_mask, const uint8_t *data, size_t byte_count,
			   struct mad_purpose purpose);

/* Requests every record with these components, by RMPP. SA_STATUS_NO_RECORDS: an SA that does not
 * send empty tables. -ENOBUFS, -ENOMEM. */
MUST_USE int sa_client_get_table(struct sa_client *client, uint16_t attribute_id,
				 uint64_t component_mask, const uint8_t *data, size_t byte_count,
				 struct mad_purpose purpose);

/* Requests the PortInfoRecord of every port that has these bits of CapabilityMask. */
MUST_USE int sa_client_get_ports(struct sa_client *client, uint32_t capability_mask,
				 struct mad_purpose purpose);

/* components: SA_COMPONENT(PR_SGID) | ... of the fields that are set. The result's data are a
 * PathRecord. */
MUST_USE int sa_client_query_path(struct sa_client *client, const struct path_record *wanted,
				  uint64_t components, struct mad_purpose purpose);

/* Joins or creates a group: SA_COMPONENT(MCR_MGID) | ... The result's data are an MCMemberRecord.
 */
MUST_USE int sa_client_join(struct sa_client *client, const struct mc_member_record *wanted,
			    uint64_t components, struct mad_purpose purpose);
/* Needs MGID, PortGID and JoinState. */
MUST_USE int sa_client_leave(struct sa_client *client, const struct mc_member_record *membership,
			     struct mad_purpose purpose);

/* Finds the only service with this id in this partition. The result's data are a ServiceRecord.
 * SA_STATUS_TOO_MANY_RECORDS: several ports offer it. */
MUST_USE int sa_client_find_service(struct sa_client *client, uint64_t service_id, uint16_t pkey,
				    struct mad_purpose purpose);

/* Drops every request and result of this subject. */
void sa_client_cancel(struct sa_client *client, const void *subject);

/* Responses to other agents' requests are ignored. */
void sa_client_receive(struct sa_client *client, time_ns now, const struct mad_message *message);
unsigned sa_client_transmit(struct sa_client *client, time_ns now, unsigned messages_max,
			    struct mad_message ret_messages[]);
/* 0 when there is something to send or a result to take. */
time_ns sa_client_deadline(const struct sa_client *client);

/* Call until false, after receive and transmit. */
MUST_USE bool sa_client_take_result(struct sa_client *client, struct sa_client_result *ret_result);

#endif
