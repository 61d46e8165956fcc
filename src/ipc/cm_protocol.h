/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between programs and softibd about connections.
 *
 * {"command":"cm"} on the control socket gives the process a SOCK_SEQPACKET socket of its own. The
 * process writes a struct cm_command, and softibd answers with a struct cm_answer, one at a time,
 * as with system calls. A posted command has no answer: if it fails, an event says so. The program
 * numbers its ids, and the first command that names an id makes it; softibd makes ids for requests,
 * with numbers from CM_ID_OF_SOFTIBD on.
 *
 * The answer to CM_OPEN_CHANNEL carries another socket, on which softibd writes a struct
 * cm_event_message for each event and reads nothing. Both structs are sent without the unused part
 * of the private data. A process that closes its socket counts as dead.
 */
#ifndef SOFTIB_IPC_CM_PROTOCOL_H
#define SOFTIB_IPC_CM_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include "wire/gid.h"
#include "wire/sa_records.h"

enum { CM_PRIVATE_BYTES_MAX = 224, CM_NAME_BYTES = 64, CM_BACKLOG_MIN = 64, CM_BACKLOG_MAX = 4096 };

enum cm_address_family { CM_ADDRESS_NONE, CM_ADDRESS_IPV4, CM_ADDRESS_IPV6, CM_ADDRESS_IB };

/* A socket address in host order. IPv4: the last four bytes; IB: a GID. */
struct cm_address {
	uint16_t family;
	uint16_t port; /* of IP */
	uint16_t pkey; /* of IB */
	uint16_t reserved;
	uint32_t scope;
	uint32_t flow_label;
	uint8_t bytes[16];
	uint64_t service_id; /* of IB */
	uint64_t service_mask;
};

/* The path of an id to its peer, as far as it is known. */
struct cm_route {
	struct cm_address source;
	struct cm_address destination;
	struct gid sgid;
	struct gid dgid;
	uint32_t qkey; /* of datagrams */
	uint16_t pkey;
	uint16_t pkey_index;
	uint8_t adapter_index;
	uint8_t port_number; /* 0: no adapter yet */
	uint8_t has_path;
	uint8_t reserved;
	struct path_record path;
};

struct cm_vector {
	uint16_t dlid;
	uint8_t sl;
	uint8_t path_bits;
	uint8_t rate;
	uint8_t has_grh;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint32_t flow_label;
	struct gid dgid;
};

/* The attributes that connect a queue pair. */
struct cm_terms {
	uint32_t remote_qpn;
	uint32_t receive_psn;
	uint32_t send_psn;
	uint32_t qkey;
	uint16_t pkey_index;
	uint8_t port_number;
	uint8_t path_mtu;
	uint8_t ack_timeout;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t initiator_depth;
	uint8_t responder_resources;
	uint8_t has_alternate;
	uint8_t alternate_port_number;
	uint8_t alternate_ack_timeout;
	struct cm_vector vector;
	struct cm_vector alternate;
};

/* What a program offers with connect and accept, and gets from its peer. */
struct cm_parameters {
	uint32_t qpn;
	uint32_t qkey;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t srq;
	uint8_t qp_type; /* enum cm_qp_type */
	uint8_t rdc_exists;
	uint32_t vendor_id; /* enhanced connection establishment */
	uint32_t vendor_options;
	/* For RD, where qpn and qkey address the service, and EE contexts are connected: */
	uint32_t eecn;
	uint32_t remote_eecn;	  /* with rdc_exists: the peer's */
	uint8_t response_timeout; /* of one try, as a 5-bit time; 0: the default */
	uint8_t retries;	  /* with a response_timeout */
	uint16_t reserved;
};

enum cm_qp_type { CM_QP_RC, CM_QP_UC, CM_QP_UD, CM_QP_XRC_SEND, CM_QP_XRC_RECEIVE, CM_QP_RD };

enum cm_command_kind {
	CM_OPEN_CHANNEL = 1, /* -> number; one descriptor */
	CM_CLOSE_CHANNEL,
	CM_DESTROY, /* -> number: events written for it */
	CM_BIND,
	CM_RESOLVE_ADDRESS, /* timeout_ms */
	CM_RESOLVE_ROUTE,
	CM_SET_PATH, /* instead of CM_RESOLVE_ROUTE */
	CM_CONNECT,
	CM_LISTEN, /* value: backlog */
	CM_ACCEPT,
	CM_ESTABLISH,
	CM_REJECT, /* value: the reason; 0: the consumer rejects */
	CM_DISCONNECT,
	CM_NOTIFY,
	/* channel: the new one; value: how many events of the id were read. Comes with the
	 * program's end of the old channel, from which nobody reads meanwhile. */
	CM_MIGRATE,
	CM_SET_OPTION,	   /* option, value */
	CM_JOIN,	   /* destination; value: join flags; token */
	CM_LEAVE,	   /* token */
	CM_FIND_HOST,	   /* name -> route.source: its IPv4, route.destination: its IPv6 address */
	CM_WRITE_EVENT,	   /* option: its kind; value: its status; argument */
	CM_QUERY,	   /* -> route */
	CM_FIND_ALTERNATE, /* source, destination: the GIDs of the two ports of the path */
	/* Unread events of a destroyed id leave this channel; comes with the program's end of it.
	 */
	CM_DROP_EVENTS,
};

enum cm_option {
	CM_OPTION_REUSE_ADDRESS,
	CM_OPTION_ONE_FAMILY,
	CM_OPTION_ACK_TIMEOUT,
	CM_OPTION_TOS
};

#define CM_ID_OF_SOFTIBD 0x80000000u

struct cm_command {
	uint32_t kind;
	uint8_t is_posted; /* no answer */
	uint8_t is_new;	   /* makes the id first: channel, port_space, new_qp_type */
	uint8_t new_qp_type;
	uint8_t reserved;
	uint32_t id;
	uint32_t channel;
	uint32_t port_space;
	uint32_t timeout_ms;
	uint32_t option;
	uint32_t value;
	uint32_t token;
	uint64_t argument;
	struct cm_address source;
	struct cm_address destination;
	struct path_record path;
	struct cm_parameters parameters;
	char name[CM_NAME_BYTES];
	uint32_t private_byte_count;
	uint8_t private_data[CM_PRIVATE_BYTES_MAX];
};

struct cm_answer {
	int32_t error; /* 0 or a negative errno; then only is_id_known holds */
	uint32_t is_id_known;
	uint32_t number;
	uint32_t reserved;
	struct cm_route route;
};

/* Numbered as rdma_cm_event_type. */
enum cm_program_event {
	CM_PROGRAM_ADDRESS_RESOLVED,
	CM_PROGRAM_ADDRESS_ERROR,
	CM_PROGRAM_ROUTE_RESOLVED,
	CM_PROGRAM_ROUTE_ERROR,
	CM_PROGRAM_CONNECT_REQUEST,
	CM_PROGRAM_CONNECT_RESPONSE,
	CM_PROGRAM_CONNECT_ERROR,
	CM_PROGRAM_UNREACHABLE,
	CM_PROGRAM_REJECTED,
	CM_PROGRAM_ESTABLISHED,
	CM_PROGRAM_DISCONNECTED,
	CM_PROGRAM_DEVICE_REMOVAL,
	CM_PROGRAM_MULTICAST_JOIN,
	CM_PROGRAM_MULTICAST_ERROR,
	CM_PROGRAM_ADDRESS_CHANGE,
	CM_PROGRAM_TIMEWAIT_EXIT,
	/* Events that programs write themselves, numbered since rdma-core 60. */
	CM_PROGRAM_ADDRESSES_RESOLVED,
	CM_PROGRAM_ADDRESSES_ERROR,
	CM_PROGRAM_USER,
	CM_PROGRAM_INTERNAL,
	/* softib's own. */
	CM_PROGRAM_ALTERNATE_PATH, /* status: 0, or why the connection has no new path */
};

struct cm_event_message {
	uint32_t kind;
	uint32_t id;
	uint32_t listener_id; /* of a request */
	int32_t status;
	uint32_t token; /* of a multicast join */
	uint32_t port_space;
	uint64_t argument; /* of an event that a program wrote */
	/* No event of this id comes before this time of CLOCK_MONOTONIC, in ns, unless the program
	 * gives a command; 0: one may come at once, UINT64_MAX: none will. */
	uint64_t quiet_until;
	struct cm_route route;
	struct cm_terms terms;
	struct cm_parameters parameters;
	uint32_t private_byte_count;
	uint8_t private_data[CM_PRIVATE_BYTES_MAX];
};

static inline size_t cm_command_bytes(const struct cm_command *command)
{
	return offsetof(struct cm_command, private_data) + command->private_byte_count;
}

static inline size_t cm_event_bytes(const struct cm_event_message *event)
{
	return offsetof(struct cm_event_message, private_data) + event->private_byte_count;
}

#endif
