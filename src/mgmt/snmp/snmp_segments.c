/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP messages in MADs (management 6.4). */
#include "mgmt/snmp/snmp_segments.h"

#include <stdlib.h>
#include <string.h>
#include "mgmt/snmp/snmp_envelope.h"
#include "wire/smp.h"

/* A message of which some segments are there; is_finished: all were, and its owner has it. */
struct partial {
	struct list link;
	bool is_finished;
	time_ns due_at;
	const void *receiver;
	struct snmp_message message; /* byte_count: 0 until segment 1 says it */
	size_t capacity;
	unsigned segment_count; /* PduInfo only */
	bool has_community;
	uint8_t lengths[SNMP_SEGMENT_MAX + 1]; /* PayloadLength of each PduInfo; 0: not there */
};

static unsigned pdu_segments(size_t byte_count)
{
	return (unsigned)((byte_count + SNMP_DATA_BYTES - 1) / SNMP_DATA_BYTES);
}

static size_t payload_of(size_t byte_count, unsigned number)
{
	size_t before = (size_t)(number - 1) * SNMP_DATA_BYTES;

	return byte_count - before < SNMP_DATA_BYTES ? byte_count - before : SNMP_DATA_BYTES;
}

unsigned snmp_segment_count(const struct snmp_message *message)
{
	if (message->byte_count == 0 || message->byte_count > SNMP_MESSAGE_BYTES_MAX)
		return 0;
	return 1 + pdu_segments(message->byte_count);
}

void snmp_segment_make(const struct snmp_message *message, unsigned number,
		       struct mad_message *ret_mad)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SNMP,
		.class_version = SNMP_CLASS_VERSION,
		.method = MAD_SEND,
		.transaction_id = message->transaction_id,
		.attribute_id = number ? ATTRIBUTE_PDU_INFO : ATTRIBUTE_COMMUNITY_INFO,
		.attribute_modifier = message->direction,
	};
	size_t payload_bytes =
		number ? payload_of(message->byte_count, number) : message->community_bytes;
	const struct snmp_header tunnel = {
		.raddress = message->raddress,
		.payload_length = (uint8_t)payload_bytes,
		.segment_number = (uint8_t)number,
		.source_lid = message->source_lid,
	};

	assert(number < snmp_segment_count(message));
	assert(message->community_bytes <= SNMP_COMMUNITY_BYTES);
	*ret_mad = (struct mad_message){.address = message->address};
	mad_header_encode(&header, ret_mad->bytes);
	snmp_header_encode(&tunnel, ret_mad->bytes + SNMP_HEADER_OFFSET);
	memcpy(ret_mad->bytes + SNMP_DATA_OFFSET,
	       number ? message->bytes + (size_t)(number - 1) * SNMP_DATA_BYTES
		      : message->community,
	       payload_bytes);
}

static struct partial *partial_of(struct list *link)
{
	return container_of(link, struct partial, link);
}

void snmp_reassembly_init(struct snmp_reassembly *reassembly)
{
	*reassembly = (struct snmp_reassembly){0};
	list_init(&reassembly->partial);
}

static void end(struct snmp_reassembly *reassembly, struct partial *partial)
{
	list_remove(&partial->link);
	if (partial->is_finished)
		reassembly->finished_count--;
	else
		reassembly->partial_count--;
	free(partial->message.bytes);
	free(partial);
}

const char *snmp_drop_text(enum snmp_drop reason)
{
	static const char *const texts[] = {
		[SNMP_DROP_MALFORMED] = "is malformed",
		[SNMP_DROP_TOO_MANY] = "came with too many others",
		[SNMP_DROP_INCOMPLETE] = "lacks segments",
	};

	return texts[reason];
}

static void count_drop(struct snmp_reassembly *reassembly, time_ns now, const void *receiver,
		       const struct mad_address *sender, enum snmp_drop reason)
{
	reassembly->dropped_count++;
	if (reassembly->dropped)
		reassembly->dropped(reassembly->context, now, receiver, sender, reason);
}

/* Or forgets it, if it was finished. */
static void drop(struct snmp_reassembly *reassembly, time_ns now, struct partial *partial,
		 enum snmp_drop reason)
{
	if (!partial->is_finished)
		count_drop(reassembly, now, partial->receiver, &partial->message.address, reason);
	end(reassembly, partial);
}

/* Hands the bytes over. */
static void finish(struct snmp_reassembly *reassembly, struct partial *partial,
		   struct snmp_message *ret_message)
{
	*ret_message = partial->message;
	partial->message.bytes = NULL;
	partial->is_finished = true;
	reassembly->partial_count--;
	reassembly->finished_count++;
}

void snmp_reassembly_release(struct snmp_reassembly *reassembly)
{
	while (!list_is_empty(&reassembly->partial))
		end(reassembly, partial_of(list_first(&reassembly->partial)));
}

void snmp_reassembly_expire(struct snmp_reassembly *reassembly, time_ns now)
{
	while (snmp_reassembly_deadline(reassembly) <= now)
		drop(reassembly, now, partial_of(list_first(&reassembly->partial)),
		     SNMP_DROP_INCOMPLETE);
}

time_ns snmp_reassembly_deadline(const struct snmp_reassembly *reassembly)
{
	return list_is_empty(&reassembly->partial)
		       ? TIME_NEVER
		       : partial_of(list_first(&reassembly->partial))->due_at;
}

/* A MAD of this class, decoded. */
struct segment {
	struct mad_header mad;
	struct snmp_header tunnel;
	const uint8_t *data;
};

static bool decode(const struct mad_message *mad, struct segment *ret_segment)
{
	if (!mad_header_decode(mad->bytes, MAD_BYTES, &ret_segment->mad))
		return false;
	snmp_header_decode(mad->bytes + SNMP_HEADER_OFFSET, &ret_segment->tunnel);
	ret_segment->data = mad->bytes + SNMP_DATA_OFFSET;
	if (ret_segment->mad.base_version != MAD_BASE_VERSION ||
	    ret_segment->mad.management_class != MAD_CLASS_SNMP ||
	    ret_segment->mad.class_version != SNMP_CLASS_VERSION ||
	    ret_segment->mad.method != MAD_SEND || ret_segment->mad.status ||
	    ret_segment->mad.attribute_modifier > SNMP_NOTIFICATION)
		return false;
	if (ret_segment->mad.attribute_id == ATTRIBUTE_COMMUNITY_INFO)
		return ret_segment->tunnel.segment_number == 0 &&
		       ret_segment->tunnel.payload_length <= SNMP_COMMUNITY_BYTES;
	return ret_segment->mad.attribute_id == ATTRIBUTE_PDU_INFO &&
	       ret_segment->tunnel.segment_number > 0 && ret_segment->tunnel.payload_length > 0 &&
	       ret_segment->tunnel.payload_length <= SNMP_DATA_BYTES;
}

static bool is_of_sender(const struct partial *partial, const void *receiver,
			 const struct mad_message *mad)
{
	return partial->receiver == receiver && partial->message.address.lid == mad->address.lid &&
	       partial->message.address.qpn == mad->address.qpn;
}

static struct partial *make(struct snmp_reassembly *reassembly, time_ns now, const void *receiver,
			    const struct mad_message *mad, const struct segment *segment)
{
	struct partial *partial = calloc(1, sizeof(*partial));

	if (!partial)
		return NULL;
	partial->due_at = now + SNMP_REASSEMBLY_TIME;
	partial->receiver = receiver;
	partial->message.address = mad->address;
	partial->message.transaction_id = segment->mad.transaction_id;
	partial->message.raddress = segment->tunnel.raddress;
	partial->message.source_lid = segment->tunnel.source_lid;
	partial->message.direction = (enum snmp_direction)segment->mad.attribute_modifier;
	list_append(&reassembly->partial, &partial->link);
	reassembly->partial_count++;
	return partial;
}

/* What a sender has here. */
struct share {
	unsigned partial_count, finished_count;
	struct partial *oldest_partial, *oldest_finished;
};

static void count(struct share *share, struct partial *partial)
{
	if (partial->is_finished && share->finished_count++ == 0)
		share->oldest_finished = partial;
	if (!partial->is_finished && share->partial_count++ == 0)
		share->oldest_partial = partial;
}

static struct partial *find(const struct snmp_reassembly *reassembly, const void *receiver,
			    const struct mad_message *mad, const struct segment *segment,
			    struct share *ret_share)
{
	*ret_share = (struct share){0};
	list_for_each (link, &reassembly->partial) {
		struct partial *partial = partial_of(link);

		if (!is_of_sender(partial, receiver, mad))
			continue;
		if (partial->message.transaction_id == segment->mad.transaction_id &&
		    partial->message.raddress == segment->tunnel.raddress &&
		    partial->message.direction ==
			    (enum snmp_direction)segment->mad.attribute_modifier)
			return partial;
		count(ret_share, partial);
	}
	return NULL;
}

static void forget_oldest_finished(struct snmp_reassembly *reassembly)
{
	list_for_each_safe (link, &reassembly->partial)
		if (partial_of(link)->is_finished) {
			end(reassembly, partial_of(link));
			return;
		}
}

/* The message that the segment belongs to, made with its first segment. A sender with too many
 * loses its own oldest one; when there are too many in all, the new one is lost. What was finished
 * longest ago is forgotten first. */
static struct partial *find_or_make(struct snmp_reassembly *reassembly, time_ns now,
				    const void *receiver, const struct mad_message *mad,
				    const struct segment *segment)
{
	struct share share;
	struct partial *partial = find(reassembly, receiver, mad, segment, &share);

	if (partial)
		return partial;
	if (share.partial_count >= SNMP_PARTIAL_PER_SENDER)
		drop(reassembly, now, share.oldest_partial, SNMP_DROP_TOO_MANY);
	if (share.finished_count >= SNMP_FINISHED_PER_SENDER)
		end(reassembly, share.oldest_finished);
	if (reassembly->finished_count >= SNMP_FINISHED_MAX)
		forget_oldest_finished(reassembly);
	if (reassembly->partial_count >= SNMP_PARTIAL_MAX) {
		count_drop(reassembly, now, receiver, &mad->address, SNMP_DROP_TOO_MANY);
		return NULL;
	}
	return make(reassembly, now, receiver, mad, segment);
}

/* Segment 1 begins with the length of the whole. */
static bool learn_length(struct partial *partial, const uint8_t *data, size_t byte_count)
{
	struct ber_element element;

	if (!ber_element_read(data, byte_count, &element) ||
	    element.content_bytes > SNMP_MESSAGE_BYTES_MAX - element.header_bytes)
		return false;
	if (element.tag != BER_SEQUENCE &&
	    (element.tag < SNMP_PDU_FIRST || element.tag > SNMP_PDU_LAST))
		return false;
	partial->message.byte_count = element.header_bytes + element.content_bytes;
	return true;
}

/* Whether the segments that are there fit the length of the whole. */
static bool lengths_fit(const struct partial *partial)
{
	size_t byte_count = partial->message.byte_count;
	unsigned count = byte_count ? pdu_segments(byte_count) : SNMP_SEGMENT_MAX;

	for (unsigned number = 1; byte_count && number <= SNMP_SEGMENT_MAX; number++) {
		if (partial->lengths[number] &&
		    (number > count || partial->lengths[number] != payload_of(byte_count, number)))
			return false;
	}
	return true;
}

static bool reserve(struct partial *partial, size_t byte_count)
{
	uint8_t *bytes;

	if (byte_count <= partial->capacity)
		return true;
	bytes = realloc(partial->message.bytes, byte_count);
	if (!bytes)
		return false;
	partial->message.bytes = bytes;
	partial->capacity = byte_count;
	return true;
}

/* false: the message is malformed. */
static bool add_pdu(struct partial *partial, const struct segment *segment)
{
	unsigned number = segment->tunnel.segment_number;
	size_t offset = (size_t)(number - 1) * SNMP_DATA_BYTES;

	/* A duplicate. */
	if (partial->lengths[number])
		return partial->lengths[number] == segment->tunnel.payload_length;
	if (number == 1 && !learn_length(partial, segment->data, segment->tunnel.payload_length))
		return false;
	partial->lengths[number] = segment->tunnel.payload_length;
	partial->segment_count++;
	if (!lengths_fit(partial) || !reserve(partial, offset + SNMP_DATA_BYTES))
		return false;
	memcpy(partial->message.bytes + offset, segment->data, segment->tunnel.payload_length);
	return true;
}

static bool is_complete(const struct partial *partial)
{
	return partial->has_community && partial->message.byte_count &&
	       partial->segment_count == pdu_segments(partial->message.byte_count);
}

bool snmp_reassembly_receive(struct snmp_reassembly *reassembly, time_ns now, const void *receiver,
			     const struct mad_message *mad, struct snmp_message *ret_message)
{
	struct segment segment;
	struct partial *partial;

	snmp_reassembly_expire(reassembly, now);
	if (!decode(mad, &segment)) {
		count_drop(reassembly, now, receiver, &mad->address, SNMP_DROP_MALFORMED);
		return false;
	}
	partial = find_or_make(reassembly, now, receiver, mad, &segment);
	if (!partial || partial->is_finished)
		return false;
	if (segment.mad.attribute_id == ATTRIBUTE_COMMUNITY_INFO) {
		partial->has_community = true;
		partial->message.community_bytes = segment.tunnel.payload_length;
		memcpy(partial->message.community, segment.data, segment.tunnel.payload_length);
	} else if (!add_pdu(partial, &segment)) {
		drop(reassembly, now, partial, SNMP_DROP_MALFORMED);
		return false;
	}
	if (!is_complete(partial))
		return false;
	finish(reassembly, partial, ret_message);
	return true;
}
