/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between softibd and softib-snmpd, which answers SNMP messages for all nodes of a fabric: two
 * SOCK_SEQPACKET sockets. By the message socket softibd sends SNMP messages and events, and gets
 * answers and notifications. By the state socket softib-snmpd asks for the state of a node and
 * waits for it. Both programs are of one build, so the structs are sent as they are. Types only, so
 * there is no snmp_link.c.
 */
#ifndef SOFTIB_IPC_SNMP_LINK_H
#define SOFTIB_IPC_SNMP_LINK_H

#include <stdint.h>
#include "wire/snmp_tunnel.h"
#include "wire/subnet_attributes.h"

enum {
	SNMP_LINK_MESSAGES_FD = 3, /* in softib-snmpd */
	SNMP_LINK_STATE_FD = 4,
	SNMP_TEXT_BYTES = 256, /* DisplayString (SIZE (0..255)) */
	SNMP_LINK_BYTES_MAX = SNMP_MESSAGE_BYTES_MAX + 256,
	SNMP_STATE_PORTS_MAX = 255,
	SNMP_STATE_PKEYS_MAX = 2048,
};

enum snmp_link_kind {
	SNMP_LINK_REQUEST, /* to softib-snmpd: an SNMP message, answered by exactly one ANSWER */
	SNMP_LINK_EVENT,   /* to softib-snmpd: struct snmp_event */
	SNMP_LINK_ANSWER,  /* without bytes: there is no answer */
	SNMP_LINK_NOTIFICATION,
	SNMP_LINK_LOG, /* a line for softibd's log */
};

/* In front of every message; the bytes follow. */
struct snmp_link_header {
	uint32_t kind;
	uint64_t node_guid;
	uint64_t token; /* of a request and its answer */
};

enum snmp_event_kind { SNMP_EVENT_LINK_UP, SNMP_EVENT_LINK_DOWN, SNMP_EVENT_NOTICE };

struct snmp_event {
	uint32_t kind;
	uint8_t port_number;
	/* Of a notice. */
	uint8_t notice_type;
	uint16_t trap_number;
	uint16_t issuer_lid;
	uint8_t details[54];
};

enum snmp_text { SNMP_TEXT_CONTACT, SNMP_TEXT_NAME, SNMP_TEXT_LOCATION, SNMP_TEXTS };

enum snmp_state_kind {
	SNMP_STATE_GET,
	SNMP_STATE_SET_TEXT,
	SNMP_STATE_CHECK_NAME, /* whether the value names the node; error 0: it does */
};

/* Every question gets one answer: struct snmp_node_state with its ports and P_Keys behind it, or
 * for the others a struct snmp_node_state alone. */
struct snmp_state_question {
	uint32_t kind;
	uint32_t text; /* enum snmp_text */
	uint64_t node_guid;
	char value[SNMP_TEXT_BYTES];
};

struct snmp_node_state {
	int32_t error; /* -ENOENT: no such node; nothing else is set */
	uint32_t port_count;
	uint32_t pkey_count;
	uint64_t uptime_ns;
	struct node_info info;
	char description[NODE_DESCRIPTION_BYTES + 1];
	char texts[SNMP_TEXTS][SNMP_TEXT_BYTES];
};

struct snmp_port_state {
	uint8_t number;
	uint8_t is_end_port; /* with a LID of its own */
	uint8_t has_neighbor;
	uint8_t neighbor_port;
	uint64_t guid; /* 0: an external port of a switch */
	uint64_t neighbor_guid;
	char neighbor_description[NODE_DESCRIPTION_BYTES + 1];
	uint32_t rate_mbps;	 /* 0: no link */
	uint64_t last_change_ns; /* since the fabric began; 0: not since softibd watches */
	struct port_info info;
	/* As net/link/port.h has them, data in units of 4 bytes. */
	uint64_t transmit_words, receive_words, transmit_packets, receive_packets;
	uint64_t unicast_transmit_packets, unicast_receive_packets;
	uint64_t multicast_transmit_packets, multicast_receive_packets;
	uint64_t symbol_errors, link_error_recovery, link_downed, receive_errors,
		receive_remote_physical_errors, receive_switch_relay_errors, transmit_discards,
		transmit_constraint_errors, receive_constraint_errors, local_link_integrity_errors,
		excessive_buffer_overruns, vl15_dropped, transmit_wait;
};

struct snmp_pkey_state {
	uint8_t port_number;
	uint16_t index;
	uint16_t pkey;
};

#endif
