/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps to the subnet manager and to the managers of other classes: repeated until repressed, never
 * closer than SubnetTimeOut (management 5.3).
 *
 * Every class of an end port with traps is a source. It sends one notice at a time: the oldest that
 * was not sent yet, else the one that was sent longest ago.
 */
#include "mgmt/agents/traps.h"

#include <stdlib.h>
#include <string.h>
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/node_log.h"
#include "mgmt/agents/class_traps.h"
#include "wire/pkey.h"
#include "wire/smp.h"

struct pending_trap {
	struct list link; /* in its source */
	uint32_t subject;
	bool is_sent; /* at least once */
	uint64_t transaction_id;
	struct notice notice;
};

/* One class of an end port with traps. It stays until the distance to its next trap has passed. */
struct trap_source {
	struct list link; /* in the agents' memory */
	struct port *port;
	struct trap_kind kind;
	time_ns due_at; /* no trap before this time */
	struct list pending;
	unsigned pending_count;
	uint8_t toggle;
};

static struct trap_source *source_of(struct list *link)
{
	return container_of(link, struct trap_source, link);
}

static struct pending_trap *trap_of(struct list *link)
{
	return container_of(link, struct pending_trap, link);
}

static void end_trap(struct trap_source *source, struct pending_trap *trap)
{
	list_remove(&trap->link);
	source->pending_count--;
	free(trap);
}

static void end_source(struct trap_source *source)
{
	while (!list_is_empty(&source->pending))
		end_trap(source, trap_of(list_first(&source->pending)));
	list_remove(&source->link);
	free(source);
}

void traps_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->traps) {
		if (!node || source_of(link)->port->node == node)
			end_source(source_of(link));
	}
}

static const struct trap_kind subnet_kind = {MAD_CLASS_SUBNET_LID, SMP_CLASS_VERSION};

static struct trap_source *find_source(const struct agent_memory *memory, const struct port *port,
				       uint8_t management_class)
{
	list_for_each (link, &memory->traps) {
		if (source_of(link)->port == port &&
		    source_of(link)->kind.management_class == management_class)
			return source_of(link);
	}
	return NULL;
}

/* A general service class sends only if its ClassPortInfo has a trap address. */
static bool can_send(const struct agent_memory *memory, const struct port *port,
		     const struct trap_kind *kind)
{
	struct mad_address address;

	if (!port_is_active(port) || !lid_is_unicast(port->info.lid))
		return false;
	if (kind->management_class != MAD_CLASS_SUBNET_LID)
		return class_trap_address(memory, port, kind->management_class, &address);
	return lid_is_unicast(port->info.master_sm_lid) &&
	       (port->info.capability_mask & CAPABILITY_TRAP);
}

static struct trap_source *get_source(struct agent_memory *memory, struct port *port, time_ns now,
				      const struct trap_kind *kind)
{
	struct trap_source *source = find_source(memory, port, kind->management_class);

	if (source)
		return source;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	source->port = port;
	source->kind = *kind;
	source->due_at = now;
	list_init(&source->pending);
	list_append(&memory->traps, &source->link);
	return source;
}

static struct pending_trap *find_trap(const struct trap_source *source, uint16_t trap_number,
				      uint32_t subject)
{
	list_for_each (link, &source->pending) {
		struct pending_trap *trap = trap_of(link);

		if (trap->notice.header.trap_number == trap_number && trap->subject == subject)
			return trap;
	}
	return NULL;
}

static struct pending_trap *find_equal(const struct trap_source *source,
				       const struct notice *notice)
{
	list_for_each (link, &source->pending) {
		struct pending_trap *trap = trap_of(link);

		if (trap->notice.header.trap_number == notice->header.trap_number &&
		    memcmp(trap->notice.details, notice->details, sizeof(notice->details)) == 0)
			return trap;
	}
	return NULL;
}

/* A new event replaces an older one of its kind: both tell the manager the same. A source with too
 * many traps drops the oldest. */
static struct pending_trap *get_trap(struct trap_source *source, struct pending_trap *replaced)
{
	struct pending_trap *trap = replaced;

	if (!trap && source->pending_count == TRAPS_PER_PORT_MAX)
		trap = trap_of(list_first(&source->pending));
	if (trap) {
		list_remove(&trap->link);
	} else {
		trap = malloc(sizeof(*trap));
		if (!trap)
			return NULL;
		list_init(&trap->link);
		source->pending_count++;
	}
	list_append(&source->pending, &trap->link);
	return trap;
}

static void log_trap(struct agent_memory *memory, const struct trap_source *source, time_ns now,
		     const struct notice *notice)
{
	const struct node_log_entry entry = {
		.event = NODE_EVENT_TRAP,
		.port_number = source->port->number,
		.code = notice->header.trap_number,
		.subject = source->kind.management_class,
	};

	node_log_add(memory, source->port->node, now, &entry);
}

static void fill(struct agent_memory *memory, struct trap_source *source, struct pending_trap *trap,
		 const struct notice *notice, uint32_t subject)
{
	const struct port *port = source->port;

	trap->subject = subject;
	trap->is_sent = false;
	trap->transaction_id = (uint64_t)port->node->index << 32 | ++memory->trap_sequence;
	trap->notice = *notice;
	/* A vendor's notice has the vendor's OUI there. */
	if (!trap->notice.header.producer_type) {
		trap->notice.header.is_generic = 1;
		trap->notice.header.producer_type = port->node->info.node_type;
	}
	trap->notice.header.issuer_lid = port->info.lid;
	trap->notice.header.toggle = source->toggle;
	source->toggle ^= 1;
	memory->traps_due_at = time_earlier(memory->traps_due_at, source->due_at);
}

void trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		const struct notice *notice, uint32_t subject)
{
	struct trap_source *source = can_send(memory, port, &subnet_kind)
					     ? get_source(memory, port, now, &subnet_kind)
					     : NULL;
	struct pending_trap *trap =
		source ? get_trap(source, find_trap(source, notice->header.trap_number, subject))
		       : NULL;

	if (!trap)
		return;
	fill(memory, source, trap, notice, subject);
	log_trap(memory, source, now, notice);
	if (memory->notice_raised)
		memory->notice_raised(memory->notice_context, port, &trap->notice);
}

void trap_queue_of_class(struct agent_memory *memory, struct port *port, time_ns now,
			 const struct trap_kind *kind, const struct notice *notice)
{
	struct trap_source *source =
		can_send(memory, port, kind) ? get_source(memory, port, now, kind) : NULL;
	struct pending_trap *trap = source ? get_trap(source, find_equal(source, notice)) : NULL;

	if (!trap)
		return;
	fill(memory, source, trap, notice, 0);
	log_trap(memory, source, now, notice);
}

void trap_repress(struct agent_memory *memory, const struct node *node, uint8_t management_class,
		  uint64_t transaction_id)
{
	list_for_each (link, &memory->traps) {
		struct trap_source *source = source_of(link);

		if (source->port->node != node || source->kind.management_class != management_class)
			continue;
		list_for_each_safe (trap_link, &source->pending) {
			struct pending_trap *trap = trap_of(trap_link);

			if (trap->is_sent && trap->transaction_id == transaction_id)
				end_trap(source, trap);
		}
	}
}

void trap_peek(const struct agent_memory *memory, const struct port *port,
	       struct notice *ret_notice)
{
	trap_peek_of_class(memory, port, MAD_CLASS_SUBNET_LID, ret_notice);
}

void trap_peek_of_class(const struct agent_memory *memory, const struct port *port,
			uint8_t management_class, struct notice *ret_notice)
{
	const struct trap_source *source = find_source(memory, port, management_class);

	*ret_notice = (struct notice){.header = {.type = NOTICE_EMPTY}};
	if (!source || list_is_empty(&source->pending))
		return;
	*ret_notice = trap_of(list_first(&source->pending))->notice;
	ret_notice->header.count = (uint16_t)source->pending_count;
}

void trap_remove(struct agent_memory *memory, const struct port *port, uint8_t management_class,
		 const struct notice_header *read)
{
	struct trap_source *source = find_source(memory, port, management_class);
	struct notice oldest;

	trap_peek_of_class(memory, port, management_class, &oldest);
	if (oldest.header.type != NOTICE_EMPTY && oldest.header.toggle == read->toggle &&
	    oldest.header.count == read->count)
		end_trap(source, trap_of(list_first(&source->pending)));
}

static void make_message(const struct port *port, const struct mad_header *header,
			 const struct notice *notice, struct mad_message *ret_message)
{
	ret_message->address = (struct mad_address){
		.lid = port->info.master_sm_lid,
		.sl = port->info.master_sm_sl,
		.qpn = QPN_SMI,
		.pkey = PKEY_DEFAULT_FULL,
	};
	smp_start(header, ret_message->bytes);
	notice_encode(notice, smp_data(ret_message->bytes));
}

static struct pending_trap *next_to_send(const struct trap_source *source)
{
	list_for_each (link, &source->pending) {
		if (!trap_of(link)->is_sent)
			return trap_of(link);
	}
	return trap_of(list_first(&source->pending));
}

/* The caller knows that the port can send. */
static void send_one(const struct agent_memory *memory, struct trap_source *source, time_ns now,
		     struct agent_trap *ret_trap)
{
	struct pending_trap *trap = next_to_send(source);
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = source->kind.management_class,
		.class_version = source->kind.class_version,
		.method = MAD_TRAP,
		.transaction_id = trap->transaction_id,
		.attribute_id = ATTRIBUTE_NOTICE,
	};

	ret_trap->port = source->port;
	if (source->kind.management_class == MAD_CLASS_SUBNET_LID) {
		make_message(source->port, &header, &trap->notice, &ret_trap->message);
	} else {
		bool is_made = class_trap_make(memory, source->port, &header, &trap->notice,
					       &ret_trap->message);

		assert(is_made);
	}
	trap->is_sent = true;
	list_remove(&trap->link);
	list_append(&source->pending, &trap->link);
	source->due_at = now + time_from_code(source->port->info.subnet_timeout);
}

unsigned agent_take_traps(struct agent_memory *memory, time_ns now, unsigned traps_max,
			  struct agent_trap ret_traps[])
{
	unsigned trap_count = 0;

	if (memory->traps_due_at > now)
		return 0;
	memory->traps_due_at = TIME_NEVER;
	list_for_each_safe (link, &memory->traps) {
		struct trap_source *source = source_of(link);

		if (source->due_at <= now && trap_count < traps_max) {
			/* No traps are left and the distance is kept, or the port can't send. */
			if (list_is_empty(&source->pending) ||
			    !can_send(memory, source->port, &source->kind)) {
				end_source(source);
				continue;
			}
			send_one(memory, source, now, &ret_traps[trap_count++]);
		}
		memory->traps_due_at = time_earlier(memory->traps_due_at, source->due_at);
	}
	return trap_count;
}
