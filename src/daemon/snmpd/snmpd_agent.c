/* SPDX-License-Identifier: Apache-2.0 */
/* net-snmp's agent, fed with messages from the tunnel. */
#include "daemon/snmpd/snmpd_agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/agent/net-snmp-agent-includes.h>
#include <net-snmp/agent/mib_modules.h>
#include <net-snmp/library/lcd_time.h>
#include "daemon/snmpd/mib_table.h"
#include "daemon/snmpd/snmpd_config.h"
#include "daemon/snmpd/snmpd_link.h"
#include "daemon/snmpd/snmpd_nodes.h"
#include "daemon/snmpd/snmpd_notifications.h"
#include "wire/snmp_engine_id.h"

enum {
	ENGINE_ID_TEXT_BYTES = 2 + 2 * SNMP_ENGINE_ID_BYTES + 1,
	TICK_NS = 10000000,
	LOOPBACK = 0x7f000001,
};

/* The modules of net-snmp that are used beside softib's own tables: access control, users, and the
 * statistics of the protocol. The others speak of the machine that softib runs on. */
static const char modules[] = "vacm_conf,usmConf,snmp_mib,usmStats,snmpEngine,snmpMPDStats";

/* The message that the agent is reading, and what became of it. */
static struct {
	const uint8_t *bytes;
	size_t byte_count;
	struct snmp_link_header header;
	bool is_answered;
	/* The context that the message names, if that is one of the node's own names; else empty.
	 */
	char own_context[SNMP_TEXT_BYTES];
} present;

/* net-snmp finds the community of a message by the IPv4 address that it came from. Every message
 * of the tunnel comes from loopback. */
static int transport_receive(netsnmp_transport *transport, void *bytes, int bytes_max,
			     void **ret_opaque, int *ret_opaque_bytes)
{
	netsnmp_indexed_addr_pair *pair = calloc(1, sizeof(*pair));

	(void)transport;
	if (!pair || present.byte_count > (size_t)bytes_max) {
		free(pair);
		return -1;
	}
	pair->remote_addr.sin.sin_family = AF_INET;
	pair->remote_addr.sin.sin_addr.s_addr = htonl(LOOPBACK);
	*ret_opaque = pair;
	*ret_opaque_bytes = sizeof(*pair);
	memcpy(bytes, present.bytes, present.byte_count);
	return (int)present.byte_count;
}

static int transport_send(netsnmp_transport *transport, const void *bytes, int byte_count,
			  void **opaque, int *opaque_bytes)
{
	struct snmp_link_header header = present.header;

	(void)transport;
	(void)opaque;
	(void)opaque_bytes;
	if (present.is_answered || byte_count > SNMP_MESSAGE_BYTES_MAX)
		return -1;
	present.is_answered = true;
	header.kind = SNMP_LINK_ANSWER;
	snmpd_link_send(&header, bytes, (size_t)byte_count);
	return byte_count;
}

static int transport_close(netsnmp_transport *transport)
{
	(void)transport;
	return 0;
}

/* By this word net-snmp's agent knows that no file of allowed hosts is to be asked. */
static char *transport_format(netsnmp_transport *transport, const void *address, int byte_count)
{
	(void)transport;
	(void)address;
	(void)byte_count;
	return strdup("callback");
}

static netsnmp_transport *make_transport(void)
{
	netsnmp_transport *transport = calloc(1, sizeof(*transport));

	if (!transport)
		return NULL;
	transport->domain = netsnmpUDPDomain;
	transport->domain_length = (int)netsnmpUDPDomain_len;
	transport->sock = SNMP_LINK_MESSAGES_FD;
	transport->msgMaxSize = SNMP_MESSAGE_BYTES_MAX;
	transport->f_recv = transport_receive;
	transport->f_send = transport_send;
	transport->f_close = transport_close;
	transport->f_fmtaddr = transport_format;
	return transport;
}

static bool set_context(netsnmp_pdu *pdu, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return false;
	free(pdu->contextName);
	pdu->contextName = copy;
	pdu->contextNameLen = strlen(copy);
	return true;
}

/* A node has one set of objects, in the default context. A manager that reaches it by the proxy
 * names the node as the context (RFC 3413 chapter 4), so each of its names is that context too. */
static int message_parsed(netsnmp_session *session, netsnmp_pdu *pdu, int result)
{
	int verdict = netsnmp_agent_check_parse(session, pdu, result);

	if (verdict && pdu->version == SNMP_VERSION_3 && pdu->contextName &&
	    snmpd_node_has_name(snmpd_current_node, pdu->contextName, pdu->contextNameLen)) {
		snprintf(present.own_context, sizeof(present.own_context), "%.*s",
			 (int)pdu->contextNameLen, pdu->contextName);
		if (!set_context(pdu, ""))
			return 0;
	}
	return verdict;
}

/* An answer has the context of its request. What could not be undone is no variable's fault
 * (RFC 3416 4.2.5). */
static int build_answer(netsnmp_session *session, netsnmp_pdu *pdu, u_char **packet,
			size_t *packet_bytes, size_t *ret_used)
{
	int error;

	if (present.own_context[0] && pdu->version == SNMP_VERSION_3 && pdu->contextNameLen == 0 &&
	    !set_context(pdu, present.own_context))
		return SNMPERR_MALLOC;
	if (pdu->command == SNMP_MSG_RESPONSE && pdu->errstat == SNMP_ERR_UNDOFAILED)
		pdu->errindex = 0;
	error = snmp_build(packet, packet_bytes, ret_used, session, pdu);
	/* net-snmp builds a message from its end, but sends what a function like this one built
	 * from the beginning. */
	if (!error && netsnmp_ds_get_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_REVERSE_ENCODE))
		memmove(*packet, *packet + *packet_bytes - *ret_used, *ret_used);
	return error;
}

/* netsnmp_register_agent_nsap(), with the two functions above. */
static bool register_tunnel(void)
{
	netsnmp_transport *transport = make_transport();
	netsnmp_session session;

	snmp_sess_init(&session);
	session.version = SNMP_DEFAULT_VERSION;
	session.callback = handle_snmp_packet;
	session.flags =
		(u_long)netsnmp_ds_get_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_FLAGS);
	session.isAuthoritative = SNMP_SESS_AUTHORITATIVE;
	return transport && snmp_add_full(&session, transport, netsnmp_agent_check_packet, NULL,
					  message_parsed, NULL, build_answer, NULL, NULL);
}

static int log_message(int major, int minor, void *message, void *context)
{
	const struct snmp_log_message *line = message;

	(void)major;
	(void)minor;
	(void)context;
	snmpd_link_log("%s", line->msg);
	return 0;
}

static bool register_tables(void)
{
	const struct mib_table *const lists[] = {mib_system_tables, mib_interface_tables,
						 mib_infiniband_tables};

	for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
		for (const struct mib_table *table = lists[i]; table->name; table++)
			if (!mib_table_register(table)) {
				snmpd_link_log("net-snmp refuses %s", table->name);
				return false;
			}
	return true;
}

bool snmpd_agent_start(const char *config_path, unsigned start_count, uint64_t uptime_ns)
{
	char modules_wanted[sizeof(modules)];

	snmp_disable_log();
	netsnmp_register_loghandler(NETSNMP_LOGHANDLER_CALLBACK, LOG_WARNING);
	snmp_register_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, log_message, NULL);
	/* No file of the machine's own agent or tools is read or written. */
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DISABLE_PERSISTENT_LOAD, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DISABLE_PERSISTENT_SAVE, 1);
	setenv("MIBS", "", 1);
	memcpy(modules_wanted, modules, sizeof(modules));
	add_to_init_list(modules_wanted);
	if (init_agent("softib-snmpd") != 0)
		return false;
	init_mib_modules();
	snmpd_config_register();
	if (!register_tables() || !snmpd_config_read(config_path))
		return false;
	init_snmp("softib-snmpd");
	snmpd_config_set_boots(start_count);
	netsnmp_set_agent_uptime((long)(uptime_ns / TICK_NS));
	if (!register_tunnel()) {
		snmpd_link_log("net-snmp has no room for the tunnel");
		return false;
	}
	return snmpd_notifications_start();
}

/* Statistics are counted per process: those of the node before are put away. */
static void exchange_statistics(struct snmpd_node *before, struct snmpd_node *node)
{
	_Static_assert(NETSNMP_STAT_MAX_STATS <= SNMPD_STATISTICS_MAX, "room for all");

	for (int i = 0; before && i < NETSNMP_STAT_MAX_STATS; i++)
		before->statistics[i] = snmp_get_statistic(i);
	snmp_init_statistics();
	for (int i = 0; i < NETSNMP_STAT_MAX_STATS; i++)
		snmp_increment_statistic_by(i, (int)node->statistics[i]);
}

static void use_engine_id(struct snmpd_node *node)
{
	uint8_t id[SNMP_ENGINE_ID_BYTES];
	char text[ENGINE_ID_TEXT_BYTES] = "0x";

	snmp_engine_id_encode(node->guid, id);
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(text + 2 + 2 * i, 3, "%02x", id[i]);
	snmpd_config_set_engine_id(text);
	if (node->is_known)
		return;
	node->is_known = true;
	set_enginetime(id, sizeof(id), (u_int)snmpv3_local_snmpEngineBoots(),
		       (u_int)snmpv3_local_snmpEngineTime(), TRUE);
	/* Keys are localized with the engine ID, so each node has users of its own. */
	snmpd_config_create_users();
}

static bool make_current(uint64_t guid)
{
	struct snmpd_node *node = snmpd_nodes_find(guid);

	if (!node)
		return false;
	if (node != snmpd_current_node) {
		exchange_statistics(snmpd_current_node, node);
		snmpd_current_node = node;
		use_engine_id(node);
	}
	return true;
}

void snmpd_agent_serve(const struct snmp_link_header *header, const uint8_t *bytes,
		       size_t byte_count)
{
	fd_set readable;

	present.header = *header;
	present.bytes = bytes;
	present.byte_count = byte_count;
	present.is_answered = false;
	present.own_context[0] = '\0';
	if (make_current(header->node_guid)) {
		FD_ZERO(&readable);
		FD_SET(SNMP_LINK_MESSAGES_FD, &readable);
		snmp_read(&readable);
		netsnmp_check_outstanding_agent_requests();
	}
	if (present.is_answered)
		return;
	present.header.kind = SNMP_LINK_ANSWER;
	snmpd_link_send(&present.header, NULL, 0);
	present.is_answered = true;
}

void snmpd_agent_notify(uint64_t node_guid, const struct snmp_event *event)
{
	if (make_current(node_guid) && snmpd_node_refresh(snmpd_current_node))
		snmpd_notifications_send(snmpd_current_node, event);
}
