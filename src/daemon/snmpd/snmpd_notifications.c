/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications of the nodes. */
#include "daemon/snmpd/snmpd_notifications.h"

#include <stdlib.h>
#include <string.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/agent/net-snmp-agent-includes.h>
#include "base/attributes.h"
#include "daemon/snmpd/mib_table.h"
#include "daemon/snmpd/snmpd_config.h"
#include "daemon/snmpd/snmpd_link.h"
#include "wire/snmp_engine_id.h"

enum { VARIABLES_MAX = 8 };

static const oid snmp_trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
static const oid link_down[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 3};
static const oid link_up[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 4};
static const oid softib_notice[] = {SOFTIB_MIB, 0, 1};
static const oid sys_name[] = {1, 3, 6, 1, 2, 1, 1, 5, 0};
static const oid if_entry[] = {1, 3, 6, 1, 2, 1, 2, 2, 1};
static const oid notice_objects[] = {SOFTIB_MIB, 1, 6};

enum { IF_INDEX = 1, IF_ADMIN_STATUS = 7, IF_OPER_STATUS = 8, IF_UP = 1, IF_DOWN = 2 };

/* net-snmp's agent sends by this transport; softibd knows where to. */
static int transport_send(netsnmp_transport *transport, const void *bytes, int byte_count,
			  void **opaque, int *opaque_bytes)
{
	const struct snmp_link_header header = {
		.kind = SNMP_LINK_NOTIFICATION,
		.node_guid = snmpd_current_node ? snmpd_current_node->guid : 0,
	};

	(void)transport;
	(void)opaque;
	(void)opaque_bytes;
	snmpd_link_send(&header, bytes, (size_t)byte_count);
	return byte_count;
}

static int transport_receive(netsnmp_transport *transport, void *bytes, int bytes_max,
			     void **ret_opaque, int *ret_opaque_bytes)
{
	(void)transport;
	(void)bytes;
	(void)bytes_max;
	*ret_opaque = NULL;
	*ret_opaque_bytes = 0;
	return -1;
}

static int transport_close(netsnmp_transport *transport)
{
	(void)transport;
	return 0;
}

/* The session that all notifications are sent by. */
static netsnmp_session *sender;

static void name_sender(netsnmp_session *session)
{
	struct snmpd_trap_settings *settings = &snmpd_trap_settings;

	session->version = settings->version;
	if (settings->version != SNMP_VERSION_3) {
		session->community = (u_char *)settings->name;
		session->community_len = strlen(settings->name);
		return;
	}
	session->securityModel = SNMP_SEC_MODEL_USM;
	session->securityLevel = settings->security_level;
	session->securityName = settings->name;
	session->securityNameLen = strlen(settings->name);
	/* Its user is that of each node's engine ID (createUser), and nobody has to be asked for
	 * that: who sends a trap is the authoritative engine (RFC 3412 6). */
	session->flags |= SNMP_FLAGS_DONT_PROBE | SNMP_FLAGS_USER_CREATED;
}

static bool set_engine_id(u_char **id, size_t *byte_count, uint64_t node_guid)
{
	u_char *made = malloc(SNMP_ENGINE_ID_BYTES);

	if (!made)
		return false;
	snmp_engine_id_encode(node_guid, made);
	free(*id);
	*id = made;
	*byte_count = SNMP_ENGINE_ID_BYTES;
	return true;
}

/* The session sends for one node after the other. */
static bool send_from(const struct snmpd_node *node)
{
	return sender->version != SNMP_VERSION_3 ||
	       (set_engine_id(&sender->securityEngineID, &sender->securityEngineIDLen,
			      node->guid) &&
		set_engine_id(&sender->contextEngineID, &sender->contextEngineIDLen, node->guid));
}

bool snmpd_notifications_start(void)
{
	long version = snmpd_trap_settings.version;
	netsnmp_transport *transport = calloc(1, sizeof(*transport));
	netsnmp_session session;

	snmp_sess_init(&session);
	name_sender(&session);
	if (transport) {
		transport->domain = netsnmpUDPDomain;
		transport->domain_length = (int)netsnmpUDPDomain_len;
		/* Not a descriptor that is ever read. */
		transport->sock = SNMP_LINK_STATE_FD;
		transport->msgMaxSize = SNMP_MESSAGE_BYTES_MAX;
		transport->f_recv = transport_receive;
		transport->f_send = transport_send;
		transport->f_close = transport_close;
		sender = snmp_add(&session, transport, NULL, NULL);
	}
	/* A trap of version 1 has an agent's IPv4 address. A node has none. */
	netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_TRAP_ADDR, "0.0.0.0");
	if (!sender ||
	    !add_trap_session(sender, version == SNMP_VERSION_1 ? SNMP_MSG_TRAP : SNMP_MSG_TRAP2, 0,
			      (int)version)) {
		snmpd_link_log("net-snmp has no room for notifications");
		return false;
	}
	return true;
}

static void add(netsnmp_variable_list **list, const oid *name, size_t length, uint8_t type,
		const void *value, size_t byte_count)
{
	snmp_varlist_add_variable(list, name, length, type, value, byte_count);
}

static void add_column(netsnmp_variable_list **list, unsigned column, unsigned index, long value)
{
	oid name[ARRAY_COUNT(if_entry) + 2];

	memcpy(name, if_entry, sizeof(if_entry));
	name[ARRAY_COUNT(if_entry)] = column;
	name[ARRAY_COUNT(if_entry) + 1] = index;
	add(list, name, ARRAY_COUNT(name), ASN_INTEGER, &value, sizeof(value));
}

static void add_link(netsnmp_variable_list **list, const struct snmpd_node *node,
		     const struct snmp_event *event)
{
	unsigned index = snmpd_node_if_index(node, event->port_number);
	bool is_up = event->kind == SNMP_EVENT_LINK_UP;
	long admin = IF_UP;

	for (unsigned i = 0; i < node->state->port_count; i++)
		if (node->ports[i].number == event->port_number &&
		    node->ports[i].info.physical_state == PHYSICAL_DISABLED)
			admin = IF_DOWN;
	add(list, snmp_trap_oid, ARRAY_COUNT(snmp_trap_oid), ASN_OBJECT_ID,
	    is_up ? link_up : link_down, sizeof(link_up));
	add_column(list, IF_INDEX, index, (long)index);
	add_column(list, IF_ADMIN_STATUS, index, admin);
	add_column(list, IF_OPER_STATUS, index, is_up ? IF_UP : IF_DOWN);
}

static void add_notice_object(netsnmp_variable_list **list, unsigned number, uint8_t type,
			      const void *value, size_t byte_count)
{
	oid name[ARRAY_COUNT(notice_objects) + 2];

	memcpy(name, notice_objects, sizeof(notice_objects));
	name[ARRAY_COUNT(notice_objects)] = number;
	name[ARRAY_COUNT(notice_objects) + 1] = 0;
	add(list, name, ARRAY_COUNT(name), type, value, byte_count);
}

static void add_notice(netsnmp_variable_list **list, const struct snmp_event *event)
{
	const long trap_number = event->trap_number, type = event->notice_type,
		   lid = event->issuer_lid;

	add(list, snmp_trap_oid, ARRAY_COUNT(snmp_trap_oid), ASN_OBJECT_ID, softib_notice,
	    sizeof(softib_notice));
	add_notice_object(list, 1, ASN_GAUGE, &trap_number, sizeof(trap_number));
	add_notice_object(list, 2, ASN_GAUGE, &type, sizeof(type));
	add_notice_object(list, 3, ASN_GAUGE, &lid, sizeof(lid));
	add_notice_object(list, 4, ASN_OCTET_STR, event->details, sizeof(event->details));
}

/* The name says which node it was: the message has no address that would. */
void snmpd_notifications_send(const struct snmpd_node *node, const struct snmp_event *event)
{
	netsnmp_variable_list *list = NULL;
	const char *name = node->state->texts[SNMP_TEXT_NAME];

	if (event->kind == SNMP_EVENT_NOTICE)
		add_notice(&list, event);
	else
		add_link(&list, node, event);
	add(&list, sys_name, ARRAY_COUNT(sys_name), ASN_OCTET_STR, name, strlen(name));
	if (list && send_from(node))
		send_v2trap(list);
	snmp_free_varbind(list);
}
