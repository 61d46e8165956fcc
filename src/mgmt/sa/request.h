/* SPDX-License-Identifier: Apache-2.0 */
/* Inside subnet administration: its state, a request under way, and how attributes answer it. */
#ifndef SOFTIB_MGMT_SA_REQUEST_H
#define SOFTIB_MGMT_SA_REQUEST_H

#include "mgmt/sa/sa_state.h"
#include "wire/sa_components.h"
#include "wire/sa_mad.h"

struct sa_request {
	struct mad_address address;
	struct mad_header header;
	struct sa_header sa_header;
	const uint8_t *data;		     /* at least SA_DATA_BYTES, zero behind what was sent */
	size_t data_bytes;		     /* sent */
	const struct subnet_port *requester; /* NULL: an unknown LID */
	bool is_trusted;		     /* knows the SM_Key */
	time_ns now;
};

static inline bool sa_request_has(const struct sa_request *request, unsigned component)
{
	return request->sa_header.component_mask & SA_COMPONENT(component);
}

static inline bool sa_request_has_all(const struct sa_request *request, uint64_t components)
{
	return (request->sa_header.component_mask & components) == components;
}

static inline struct gid sa_port_gid(const struct sa *sa, const struct subnet_port *port)
{
	return gid_from(sa->subnet->gid_prefix, port->guid);
}

/* Whether the two ports share a partition; a switch's ports are as its port 0. */
bool sa_ports_share_partition(const struct subnet_port *a, const struct subnet_port *b);
/* Whether the port has this key, or the other kind of membership that may talk to it. */
bool sa_port_holds_pkey(const struct subnet_port *port, uint16_t pkey);
/* Whether the requester may know of this port. */
bool sa_request_sees(const struct sa *sa, const struct sa_request *request,
		     const struct subnet_port *port);
/* The port with this GUID, be it one of those that were given to it. NULL: nobody. */
const struct subnet_port *sa_port_by_guid(const struct sa *sa, uint64_t guid);
/* The port with this GID in this subnet; link-local prefixes are the subnet's. NULL: nobody. */
const struct subnet_port *sa_port_by_gid(const struct sa *sa, uint64_t prefix, uint64_t guid);
bool sa_prefix_is_local(const struct sa *sa, uint64_t prefix);

/* The records that answer the request go to sa->records; of a Set or Delete it is one. Returns a
 * MAD status. */
typedef uint16_t sa_find_function(struct sa *sa, const struct sa_request *request);

struct sa_attribute_row {
	uint16_t attribute_id;
	uint16_t record_bytes;
	bool has_no_table;	/* Get only */
	sa_find_function *find; /* Get and GetTable */
	sa_find_function *set;
	sa_find_function *remove;     /* Delete */
	sa_find_function *find_multi; /* GetMulti */
	sa_find_function *trace;      /* GetTraceTable */
};

const struct sa_attribute_row *sa_attribute_find(uint16_t attribute_id);

sa_find_function sa_find_class_port_info, sa_find_nodes, sa_find_port_infos, sa_find_switch_infos,
	sa_find_links, sa_find_linear_blocks, sa_find_pkey_blocks, sa_find_guid_blocks,
	sa_find_services, sa_find_service_associations, sa_find_paths, sa_find_multi_paths,
	sa_find_trace, sa_find_members, sa_find_subscriptions;
/* Answers by itself later, when the port has the GUIDs: MAD_STATUS_OK means that. */
uint16_t sa_change_guids(struct sa *sa, const struct sa_request *request);
sa_find_function sa_set_member, sa_delete_member, sa_set_service, sa_delete_service,
	sa_set_inform_info;

#endif
