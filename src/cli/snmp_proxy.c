/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy of "softib snmp". */
#include "cli/snmp_proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/line_limit.h"
#include "base/list.h"
#include "cli/fabric_client.h"
#include "cli/mad_engine.h"
#include "cli/snmp_targets.h"
#include "cli/snmp_trap_addresses.h"
#include "mgmt/snmp/snmp_envelope.h"
#include "mgmt/snmp/snmp_segments.h"
#include "mgmt/snmp/snmp_v3_envelope.h"
#include "wire/pkey.h"
#include "wire/snmp_engine_id.h"

enum {
	SOCKETS_MAX = SNMP_PROXY_NODES_MAX + 1,
	PENDING_MAX = 1024, /* a power of two */
	OUTGOING_MAX = 256,
	DATAGRAMS_PER_TURN = 64,
	DATAGRAM_BYTES = 65536,
	COMMUNITY_BYTES_MAX = SNMP_COMMUNITY_BYTES + SNMP_NODE_NAME_BYTES,
};

#define PATH_TIME SECONDS(2)
/* How often a node of another subnet gets the trap address, or is looked for. */
#define TELL_TIME	  SECONDS(10)
#define LOOK_TIME	  MILLISECONDS(20)
#define UNKNOWN_NODE_TIME SECONDS(1)

/* Whom the answer to a request is for. */
struct pending_answer {
	uint32_t sequence; /* 0: free */
	int socket;
	struct sockaddr_in manager;
	uint8_t community[COMMUNITY_BYTES_MAX]; /* as the manager wrote it */
	size_t community_bytes;
};

struct outgoing_request {
	struct list link;
	struct snmp_target *target;
	char name[SNMP_NODE_NAME_BYTES];
	time_ns due_at;
	struct snmp_message message;
	unsigned next_segment;
};

struct snmp_proxy {
	const struct snmp_proxy_options *options;
	struct mad_engine_port port;
	struct sa_client sa;
	struct snmp_targets targets;
	struct snmp_trap_addresses trap_addresses;
	struct snmp_reassembly reassembly;
	int epoll;
	int sockets[SOCKETS_MAX]; /* [0]: for all nodes; the others: for options->nodes[i - 1] */
	unsigned socket_count;
	uint32_t agent_number;
	uint32_t sequence;
	struct pending_answer pending[PENDING_MAX];
	struct list outgoing;
	unsigned outgoing_count;
	/* Of options->nodes: when the node gets the trap address, if it is of another subnet. */
	time_ns tell_at[SNMP_PROXY_NODES_MAX];
	bool is_looked_for[SNMP_PROXY_NODES_MAX]; /* its path */
	bool is_announced;
	struct line_limit error_limit;
};

static struct outgoing_request *outgoing_of(struct list *link)
{
	return container_of(link, struct outgoing_request, link);
}

static void end_outgoing(struct snmp_proxy *proxy, struct outgoing_request *request)
{
	list_remove(&request->link);
	proxy->outgoing_count--;
	free(request->message.bytes);
	free(request);
}

/* The node of the proxy's own port: the folder of its files has the name of the host. */
static void own_name(const struct snmp_proxy *proxy, char ret_name[static SNMP_NODE_NAME_BYTES])
{
	const char *slash = strrchr(proxy->port.host.tree, '/');

	snprintf(ret_name, SNMP_NODE_NAME_BYTES, "%s", slash ? slash + 1 : "");
}

/* Splits "public@s1" at the last @. Without one the node is the proxy's own. false: a name that is
 * too long. */
static bool read_community(const struct snmp_proxy *proxy, const struct snmp_envelope *envelope,
			   size_t *ret_community_bytes, char ret_name[static SNMP_NODE_NAME_BYTES])
{
	const uint8_t *at = envelope->community_bytes
				    ? memrchr(envelope->community, '@', envelope->community_bytes)
				    : NULL;
	size_t before = at ? (size_t)(at - envelope->community) : envelope->community_bytes;
	size_t name_bytes = at ? envelope->community_bytes - before - 1 : 0;

	if (before > SNMP_COMMUNITY_BYTES || name_bytes >= SNMP_NODE_NAME_BYTES)
		return false;
	*ret_community_bytes = before;
	if (at) {
		memcpy(ret_name, at + 1, name_bytes);
		ret_name[name_bytes] = '\0';
	} else {
		own_name(proxy, ret_name);
	}
	return true;
}

/* Whom a message of version 3 is for. A manager that knows the engine ID of a node writes it in
 * clear, since the agent finds the user's keys by it. One that does not asks for it, never
 * encrypted, with the node as the context, by engine ID or by name (docs/decisions.md). */
static bool read_v3_name(const struct snmp_proxy *proxy, const uint8_t *bytes, size_t byte_count,
			 char ret_name[static SNMP_NODE_NAME_BYTES])
{
	struct snmp_v3_envelope envelope;
	uint64_t guid;

	if (!snmp_v3_envelope_read(bytes, byte_count, &envelope) ||
	    envelope.context_name.byte_count >= SNMP_NODE_NAME_BYTES)
		return false;
	if (snmp_engine_id_decode(envelope.engine_id.bytes, envelope.engine_id.byte_count, &guid) ||
	    snmp_engine_id_decode(envelope.context_engine_id.bytes,
				  envelope.context_engine_id.byte_count, &guid))
		snprintf(ret_name, SNMP_NODE_NAME_BYTES, "0x%016" PRIx64, guid);
	else if (envelope.context_name.byte_count)
		snprintf(ret_name, SNMP_NODE_NAME_BYTES, "%.*s",
			 (int)envelope.context_name.byte_count,
			 (const char *)envelope.context_name.bytes);
	else
		own_name(proxy, ret_name);
	return true;
}

/* The message for the node: as it came, or with the community alone. The caller frees it. */
static bool make_message(const struct snmp_proxy *proxy, unsigned socket_index,
			 const uint8_t *bytes, size_t byte_count, struct outgoing_request *request)
{
	struct snmp_envelope envelope;
	struct snmp_message *message = &request->message;

	if (byte_count > SNMP_MESSAGE_BYTES_MAX ||
	    !snmp_envelope_read(bytes, byte_count, &envelope))
		return false;
	if (socket_index)
		snprintf(request->name, sizeof(request->name), "%s",
			 proxy->options->nodes[socket_index - 1].name);
	if (envelope.version == SNMP_VERSION_NUMBER_3
		    ? socket_index == 0 && !read_v3_name(proxy, bytes, byte_count, request->name)
		    : socket_index == 0 &&
			      !read_community(proxy, &envelope, &envelope.community_bytes,
					      request->name))
		return false;
	if (envelope.community_bytes > SNMP_COMMUNITY_BYTES)
		return false;
	if (envelope.community_bytes)
		memcpy(message->community, envelope.community, envelope.community_bytes);
	message->community_bytes = envelope.community_bytes;
	message->bytes = malloc(byte_count);
	if (!message->bytes)
		return false;
	if (envelope.version == SNMP_VERSION_NUMBER_3) {
		memcpy(message->bytes, bytes, byte_count);
		message->byte_count = byte_count;
	} else {
		message->byte_count = snmp_envelope_write(&envelope, byte_count, message->bytes);
	}
	return message->byte_count != 0;
}

static void remember(struct snmp_proxy *proxy, uint32_t sequence, int socket,
		     const struct sockaddr_in *manager, const uint8_t *bytes, size_t byte_count)
{
	struct pending_answer *pending = &proxy->pending[sequence % PENDING_MAX];
	struct snmp_envelope envelope;

	*pending = (struct pending_answer){
		.sequence = sequence, .socket = socket, .manager = *manager};
	if (!snmp_envelope_read(bytes, byte_count, &envelope) ||
	    envelope.community_bytes > sizeof(pending->community))
		return;
	if (envelope.community_bytes)
		memcpy(pending->community, envelope.community, envelope.community_bytes);
	pending->community_bytes = envelope.community_bytes;
}

static void tell_dropped(struct snmp_proxy *proxy, const struct sockaddr_in *manager,
			 const char *why, time_ns now)
{
	if (line_limit_admits(&proxy->error_limit, now))
		fprintf(stderr, "softib snmp: a message of UDP port %u was dropped: %s\n",
			ntohs(manager->sin_port), why);
}

static void pass_on(struct snmp_proxy *proxy, unsigned socket_index,
		    const struct sockaddr_in *manager, const uint8_t *bytes, size_t byte_count,
		    struct outgoing_request *request, time_ns now)
{
	if (++proxy->sequence == 0)
		proxy->sequence = 1;
	request->due_at = now + PATH_TIME;
	request->message.transaction_id = (uint64_t)proxy->agent_number << 32 | proxy->sequence;
	request->message.raddress = proxy->sequence;
	request->message.direction = SNMP_TO_AGENT;
	remember(proxy, proxy->sequence, proxy->sockets[socket_index], manager, bytes, byte_count);
	list_append(&proxy->outgoing, &request->link);
	proxy->outgoing_count++;
}

/* A message that is no SNMP, or for an unknown node, gets no answer, as from a host without an
 * agent. */
static void take_datagram(struct snmp_proxy *proxy, unsigned socket_index,
			  const struct sockaddr_in *manager, const uint8_t *bytes,
			  size_t byte_count, time_ns now)
{
	struct outgoing_request *request = NULL;
	const char *trouble = NULL;

	if (proxy->outgoing_count < OUTGOING_MAX)
		request = calloc(1, sizeof(*request));
	if (!request) {
		tell_dropped(proxy, manager, "too many wait for their nodes", now);
		return;
	}
	if (!make_message(proxy, socket_index, bytes, byte_count, request)) {
		trouble = "it is no SNMP message, or too long";
	} else {
		request->target = snmp_targets_find(&proxy->targets, request->name, now);
		if (request->target->state == TARGET_UNKNOWN)
			trouble = "there is no path to its node";
	}
	if (!trouble) {
		pass_on(proxy, socket_index, manager, bytes, byte_count, request, now);
		return;
	}
	tell_dropped(proxy, manager, trouble, now);
	free(request->message.bytes);
	free(request);
}

static void read_socket(struct snmp_proxy *proxy, unsigned socket_index, time_ns now)
{
	static uint8_t bytes[DATAGRAM_BYTES];

	for (unsigned count = 0; count < DATAGRAMS_PER_TURN; count++) {
		struct sockaddr_in manager;
		socklen_t address_bytes = sizeof(manager);
		ssize_t got = recvfrom(proxy->sockets[socket_index], bytes, sizeof(bytes),
				       MSG_DONTWAIT, (struct sockaddr *)&manager, &address_bytes);

		if (got < 0)
			return;
		take_datagram(proxy, socket_index, &manager, bytes, (size_t)got, now);
	}
}

static void readable(void *context, time_ns now)
{
	struct snmp_proxy *proxy = context;
	struct epoll_event events[SOCKETS_MAX];
	int count = epoll_wait(proxy->epoll, events, SOCKETS_MAX, 0);

	for (int i = 0; i < count; i++)
		read_socket(proxy, events[i].data.u32, now);
}

/* The manager gets back the community that it wrote. */
static void answer(struct snmp_proxy *proxy, const struct snmp_message *message)
{
	static uint8_t bytes[DATAGRAM_BYTES];
	uint32_t sequence = (uint32_t)message->transaction_id;
	struct pending_answer *pending = &proxy->pending[sequence % PENDING_MAX];
	struct snmp_envelope envelope;
	size_t byte_count = message->byte_count;

	if (message->transaction_id >> 32 != proxy->agent_number || !sequence ||
	    pending->sequence != sequence ||
	    !snmp_envelope_read(message->bytes, message->byte_count, &envelope))
		return;
	if (envelope.version == SNMP_VERSION_NUMBER_3) {
		memcpy(bytes, message->bytes, byte_count);
	} else {
		envelope.community = pending->community;
		envelope.community_bytes = pending->community_bytes;
		byte_count = snmp_envelope_write(&envelope, sizeof(bytes), bytes);
	}
	pending->sequence = 0;
	/* A manager that is gone needs no answer. */
	if (byte_count &&
	    sendto(pending->socket, bytes, byte_count, MSG_DONTWAIT,
		   (const struct sockaddr *)&pending->manager, sizeof(pending->manager)) < 0)
		return;
}

static void forward_notification(struct snmp_proxy *proxy, const struct snmp_message *message)
{
	const struct sockaddr_in *sink = &proxy->options->trap_sink;

	if (proxy->options->has_trap_sink &&
	    sendto(proxy->sockets[0], message->bytes, message->byte_count, MSG_DONTWAIT,
		   (const struct sockaddr *)sink, sizeof(*sink)) < 0)
		return;
}

static void take_results(struct snmp_proxy *proxy, time_ns now)
{
	struct sa_client_result result;

	while (sa_client_take_result(&proxy->sa, &result)) {
		if (snmp_trap_addresses_asked(&proxy->trap_addresses, &result))
			snmp_trap_addresses_take(&proxy->trap_addresses, &result);
		else
			snmp_target_resolve(result.purpose.subject, &result,
					    &proxy->targets.own_gid, now);
		free(result.table);
	}
}

/* Whether the path to this node of the options is not known yet, or was not looked for. */
static bool is_unsettled(const struct snmp_proxy *proxy, unsigned index)
{
	return proxy->tell_at[index] == 0 || proxy->is_looked_for[index];
}

/* Once, so that its reader knows from when on notifications come. */
static void announce_notifications(struct snmp_proxy *proxy)
{
	const struct snmp_trap_addresses *addresses = &proxy->trap_addresses;

	if (proxy->is_announced || addresses->lid_count ||
	    !mad_transactions_is_idle(&addresses->transactions))
		return;
	for (unsigned i = 0; i < proxy->options->node_count; i++)
		if (is_unsettled(proxy, i))
			return;
	proxy->is_announced = true;
	printf("notifications of %zu ports\n", addresses->told_count);
	fflush(stdout);
}

static void receive(void *context, time_ns now, const struct mad_message *mad)
{
	struct snmp_proxy *proxy = context;
	struct snmp_message message;

	if (mad->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION) {
		sa_client_receive(&proxy->sa, now, mad);
		take_results(proxy, now);
		return;
	}
	if (mad->bytes[MAD_METHOD_OFFSET] & MAD_RESPONSE) {
		if (proxy->options->has_trap_sink) {
			snmp_trap_addresses_receive(&proxy->trap_addresses, mad);
			announce_notifications(proxy);
		}
		return;
	}
	if (!snmp_reassembly_receive(&proxy->reassembly, now, proxy, mad, &message))
		return;
	if (message.direction == SNMP_ANSWER)
		answer(proxy, &message);
	else if (message.direction == SNMP_NOTIFICATION)
		forward_notification(proxy, &message);
	free(message.bytes);
}

static bool is_lost(const struct outgoing_request *request, time_ns now)
{
	return now >= request->due_at || request->target->state == TARGET_UNKNOWN ||
	       strcmp(request->target->name, request->name) != 0;
}

static bool next_segment(struct snmp_proxy *proxy, time_ns now, struct mad_message *ret_message)
{
	list_for_each_safe (link, &proxy->outgoing) {
		struct outgoing_request *request = outgoing_of(link);

		if (is_lost(request, now)) {
			end_outgoing(proxy, request);
			continue;
		}
		if (request->target->state != TARGET_KNOWN)
			continue;
		request->message.address = request->target->address;
		request->message.source_lid = proxy->trap_addresses.own_lid;
		snmp_segment_make(&request->message, request->next_segment++, ret_message);
		if (request->next_segment == snmp_segment_count(&request->message))
			end_outgoing(proxy, request);
		return true;
	}
	return false;
}

static void refresh_port(struct snmp_proxy *proxy)
{
	uint16_t sa_lid;
	uint8_t sa_sl;

	host_port_find_sa(&proxy->port.host, &sa_lid, &sa_sl);
	sa_client_set_sa(&proxy->sa, sa_lid, sa_sl, PKEY_DEFAULT_FULL);
}

static time_ns tell_interval(const struct snmp_target *target)
{
	if (target->state == TARGET_KNOWN)
		return TELL_TIME;
	return target->state == TARGET_ASKED ? LOOK_TIME : UNKNOWN_NODE_TIME;
}

/* The SA's table has the nodes of its own subnet only; those of others are named by --node. */
static void tell_other_subnets(struct snmp_proxy *proxy, time_ns now)
{
	for (unsigned i = 0; i < proxy->options->node_count; i++) {
		const struct snmp_target *target;

		if (now < proxy->tell_at[i])
			continue;
		target = snmp_targets_find(&proxy->targets, proxy->options->nodes[i].name, now);
		proxy->is_looked_for[i] = target->state == TARGET_ASKED;
		proxy->tell_at[i] = now + tell_interval(target);
		/* Without room it is told the next time. */
		if (target->state == TARGET_KNOWN && target->address.has_grh &&
		    !snmp_trap_addresses_tell(&proxy->trap_addresses, &target->address))
			continue;
	}
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	struct snmp_proxy *proxy = context;

	if (!messages_max)
		return 0;
	snmp_reassembly_expire(&proxy->reassembly, now);
	if (next_segment(proxy, now, ret_messages))
		return 1;
	if (proxy->options->has_trap_sink && now >= proxy->trap_addresses.next_at)
		snmp_trap_addresses_run(&proxy->trap_addresses, now,
					host_port_lid(&proxy->port.host));
	if (proxy->options->has_trap_sink)
		tell_other_subnets(proxy, now);
	if (sa_client_deadline(&proxy->sa) <= now) {
		refresh_port(proxy);
		if (sa_client_transmit(&proxy->sa, now, 1, ret_messages))
			return 1;
		take_results(proxy, now);
	}
	return proxy->options->has_trap_sink
		       ? snmp_trap_addresses_transmit(&proxy->trap_addresses, now, ret_messages)
		       : 0;
}

static time_ns deadline(const void *context)
{
	const struct snmp_proxy *proxy = context;
	time_ns earliest = time_earlier(sa_client_deadline(&proxy->sa),
					snmp_reassembly_deadline(&proxy->reassembly));

	list_for_each (link, &proxy->outgoing) {
		const struct outgoing_request *request = outgoing_of(link);

		earliest = time_earlier(
			earliest, request->target->state == TARGET_ASKED ? request->due_at : 0);
	}
	if (!proxy->options->has_trap_sink)
		return earliest;
	for (unsigned i = 0; i < proxy->options->node_count; i++)
		earliest = time_earlier(earliest, proxy->tell_at[i]);
	return time_earlier(earliest, snmp_trap_addresses_deadline(&proxy->trap_addresses));
}

static int open_socket(struct snmp_proxy *proxy, uint16_t port)
{
	struct sockaddr_in address = proxy->options->listen;
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = proxy->socket_count};
	socklen_t address_bytes = sizeof(address);
	int socket_made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	address.sin_port = htons(port);
	if (socket_made < 0 ||
	    bind(socket_made, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    getsockname(socket_made, (struct sockaddr *)&address, &address_bytes) != 0 ||
	    epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, socket_made, &event) != 0) {
		fprintf(stderr, "softib snmp: UDP port %u: %s\n", port, strerror(errno));
		if (socket_made >= 0)
			close(socket_made);
		return -1;
	}
	proxy->sockets[proxy->socket_count++] = socket_made;
	return ntohs(address.sin_port);
}

static bool open_sockets(struct snmp_proxy *proxy)
{
	const struct snmp_proxy_options *options = proxy->options;
	char text[INET_ADDRSTRLEN];
	int port;

	proxy->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (proxy->epoll < 0)
		return false;
	inet_ntop(AF_INET, &options->listen.sin_addr, text, sizeof(text));
	port = open_socket(proxy, ntohs(options->listen.sin_port));
	if (port < 0)
		return false;
	printf("%s:%d COMMUNITY@NODE\n", text, port);
	for (unsigned i = 0; i < options->node_count; i++) {
		port = open_socket(proxy, options->nodes[i].port);
		if (port < 0)
			return false;
		printf("%s:%d %s\n", text, port, options->nodes[i].name);
	}
	fflush(stdout);
	return true;
}

/* Notifications come unasked; answers come by their transaction id. */
static int register_agents(struct snmp_proxy *proxy)
{
	struct mad_agent_options snmp = {.management_class = MAD_CLASS_SNMP,
					 .class_version = SNMP_CLASS_VERSION};
	const struct mad_agent_options sa = {.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
					     .class_version = SA_CLASS_VERSION};
	struct mad_agent_identity identity;
	int error;

	if (proxy->options->has_trap_sink)
		snmp.methods[0] = 1ull << MAD_SEND;
	error = mad_engine_register(&proxy->port, &snmp, &identity);
	if (error)
		return error;
	proxy->agent_number = identity.number;
	error = mad_engine_register(&proxy->port, &sa, &identity);
	if (error)
		return error;
	error = sa_client_init(&proxy->sa,
			       &(struct sa_client_options){.agent_number = identity.number});
	if (error)
		return error;
	proxy->targets.own_gid = host_port_gid(&proxy->port.host);
	proxy->targets.sa = &proxy->sa;
	sa_client_set_own_gid(&proxy->sa, &proxy->targets.own_gid);
	error = snmp_trap_addresses_init(&proxy->trap_addresses, &proxy->sa, proxy->agent_number,
					 &proxy->targets.own_gid);
	proxy->trap_addresses.own_lid = host_port_lid(&proxy->port.host);
	return error;
}

static void release(struct snmp_proxy *proxy)
{
	while (!list_is_empty(&proxy->outgoing))
		end_outgoing(proxy, outgoing_of(list_first(&proxy->outgoing)));
	snmp_reassembly_release(&proxy->reassembly);
	snmp_trap_addresses_release(&proxy->trap_addresses);
	sa_client_release(&proxy->sa);
	for (unsigned i = 0; i < proxy->socket_count; i++)
		close(proxy->sockets[i]);
	close(proxy->epoll);
	if (proxy->targets.control >= 0)
		close(proxy->targets.control);
	mad_engine_close(&proxy->port);
}

/* A message of a node, to this proxy. */
static void dropped(void *context, time_ns now, const void *receiver,
		    const struct mad_address *sender, enum snmp_drop reason)
{
	struct snmp_proxy *proxy = context;

	(void)receiver;
	if (line_limit_admits(&proxy->error_limit, now))
		fprintf(stderr, "softib snmp: a message of LID %u was dropped: it %s\n",
			sender->lid, snmp_drop_text(reason));
}

int snmp_proxy_run(const struct snmp_proxy_options *options)
{
	static struct snmp_proxy proxy;
	int error;

	proxy.options = options;
	list_init(&proxy.outgoing);
	snmp_reassembly_init(&proxy.reassembly);
	proxy.reassembly.dropped = dropped;
	proxy.reassembly.context = &proxy;
	proxy.targets.fabric = options->fabric;
	proxy.targets.control = fabric_client_open(options->fabric);
	if (proxy.targets.control < 0)
		return EXIT_FAILURE;
	if (host_port_open("snmp", options->fabric, options->host, 0, &proxy.port.host) != 0)
		return EXIT_FAILURE;
	if (register_agents(&proxy) != 0 || !open_sockets(&proxy))
		return EXIT_FAILURE;

	const struct mad_engine engine = {
		.context = &proxy,
		.receive = receive,
		.transmit = transmit,
		.deadline = deadline,
		.descriptor = proxy.epoll,
		.readable = readable,
	};

	error = mad_engine_run(&proxy.port, &engine);
	release(&proxy);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
