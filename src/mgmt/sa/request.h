/* SPDX-License-Identifier: Apache-2.0 */
/* Inside subnet administration: a request, and the functions of the attributes. It has no
 * request.c: attributes.c has the table, and each attribute its own file. */
#ifndef SOFTIB_MGMT_SA_REQUEST_H
#define SOFTIB_MGMT_SA_REQUEST_H

#include "mgmt/sa/sa_state.h"
#include "wire/sa_components.h"
#include "wire/sa_mad.h"

struct sa_request {
	struct mad_address address;
	struct mad_header header;
	struct sa_header sa_header;
	const uint8_t *data;		     /* at least SA_DATA_BYTES; zero beyond data_bytes */
	size_t data_bytes;		     /* received */
	const struct subnet_port *requester; /* NULL: unknown LID */
	bool is_trusted;		     /* has the SM_Key */
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

/* Whether the two ports share a partition (management 4.5). Ports of a switch have the keys of port
 * 0. */
bool sa_ports_share_partition(const struct subnet_port *a, const struct subnet_port *b);
/* Whether the port has a key that matches this one (management 3.5). */
bool sa_port_holds_pkey(const struct subnet_port *port, uint16_t pkey);
/* Whether the requester may see records about this port (management 4.5). */
bool sa_request_sees(const struct sa *sa, const struct sa_request *request,
		     const struct subnet_port *port);
/* The port with this port GUID or alias GUID. NULL: none. */
const struct subnet_port *sa_port_by_guid(const struct sa *sa, uint64_t guid);
/* The port with this GID in this subnet. The link-local prefix is taken as the subnet's. NULL:
 * none. */
const struct subnet_port *sa_port_by_gid(const struct sa *sa, uint64_t prefix, uint64_t guid);
bool sa_prefix_is_local(const struct sa *sa, uint64_t prefix);

/* Puts the records of the response into sa->records; one record for Set and Delete. Returns a MAD
 * status. */
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
/* MAD_STATUS_OK: the response is sent later, when the port has the GUIDs. */
uint16_t sa_change_guids(struct sa *sa, const struct sa_request *request);
sa_find_function sa_set_member, sa_delete_member, sa_set_service, sa_delete_service,
	sa_set_inform_info;
/* The port is gone, and so are the services that it offered. */
void services_drop_port(struct sa *sa, uint64_t port_guid);

#endif
