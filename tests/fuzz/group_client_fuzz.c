/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: MADs of any content into a port that follows multicast groups. It sends only
 * well-formed MADs to its SA, its state stays bounded and in order, and once the SA behaves again
 * it has the groups that its owner wants. */
#include "fuzz/fuzz.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/sa/group_client.h"
#include "mgmt/subnet/multicast_groups.h"
#include "wire/notice.h"
#include "wire/pkey.h"
#include "wire/rmpp.h"

/* The first bytes choose values that a random MAD would hardly ever have. */
enum {
	CHOICE_BYTES = 8,
	INPUTS_PER_LIFE = 256,
	ASKED_MAX = 16,
	MESSAGES_MAX = 4096,
	STEPS_MAX = 20000,
	GROUPS = 8,
	SA_LID = 1,
	ATTRIBUTE_ID_OFFSET = 16,
	AGENT = 9,
	RECORD_UNITS = (MC_MEMBER_RECORD_BYTES + SA_RECORD_UNIT - 1) / SA_RECORD_UNIT,
};

static const uint16_t statuses[] = {
	0, 0, 0, 0, SA_STATUS_NO_RECORDS, SA_STATUS_REQ_INVALID, MAD_STATUS_BUSY};

static struct group_client client;
static bool is_alive;
static time_ns now;
static struct mad_message asked[ASKED_MAX]; /* the last requests */
static unsigned asked_count;
static unsigned input_count;

static struct mc_member_record group_of(unsigned number)
{
	return (struct mc_member_record){.mgid_high = 0xff1e424200000000u,
					 .mgid_low = number,
					 .qkey = 0x1234,
					 .pkey = PKEY_DEFAULT_FULL,
					 .scope = 14};
}

static void start(void)
{
	const struct group_port port = {.is_active = true,
					.gid = gid_from(GID_PREFIX_LINK_LOCAL, 0x77),
					.lid = 5,
					.sm_lid = SA_LID,
					.pkey = PKEY_DEFAULT_FULL};

	MUST_HOLD(group_client_init(&client, AGENT) == 0);
	group_client_set_port(&client, &port);
	asked_count = 0;
	is_alive = true;
}

/* Checks a MAD from the client. Requests are kept. */
static void note(const struct mad_message *message)
{
	const uint8_t *bytes = message->bytes;
	uint8_t method = bytes[MAD_METHOD_OFFSET];

	MUST_HOLD(bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION);
	if (method == MAD_REPORT_RESPONSE)
		return;
	/* A segment of any kind is acknowledged or refused. */
	if (rmpp_mad_is_active(bytes))
		return;
	/* The SA may redirect its clients. */
	MUST_HOLD(lid_is_unicast(message->address.lid));
	MUST_HOLD(get_be32(bytes + MAD_TRANSACTION_ID_OFFSET) == AGENT);
	MUST_HOLD(method == MAD_SET || method == MAD_DELETE || method == MAD_GET_TABLE ||
		  (method == MAD_GET && get_be16(bytes + ATTRIBUTE_ID_OFFSET) == SA_PATH_RECORD));
	asked[asked_count++ % ASKED_MAX] = *message;
}

static bool send_one(struct mad_message *ret_message)
{
	if (!group_client_transmit(&client, now, 1, ret_message))
		return false;
	note(ret_message);
	return true;
}

/* The request with another method. */
static struct mad_message answer_to(const struct mad_message *request, uint16_t status)
{
	struct mad_message answer = *request;
	uint8_t method = request->bytes[MAD_METHOD_OFFSET];

	answer.bytes[MAD_METHOD_OFFSET] =
		method == MAD_SET ? MAD_GET_RESPONSE : method | MAD_RESPONSE;
	put_be16(answer.bytes + MAD_STATUS_OFFSET, status);
	return answer;
}

/* A table in one segment, with lengths that are mostly right. */
static void make_table(const uint8_t *choice, struct mad_message *answer)
{
	uint32_t record_count = choice[3] % 4;
	const struct rmpp_header header = {
		.version = choice[4] & 15 ? RMPP_VERSION : choice[4] >> 4,
		.type = choice[4] & 0x10 ? choice[5] % 5 : 1,
		.flags = choice[4] & 0x20 ? choice[5] : 7,
		.segment_number = choice[4] & 0x40 ? choice[5] % 4 : 1,
		.length_or_last = choice[4] & 0x80 ? choice[5]
						   : SA_HEADER_BYTES + record_count * RECORD_UNITS *
									       SA_RECORD_UNIT,
	};
	const struct sa_header sa = {.attribute_offset = choice[6] & 7 ? RECORD_UNITS : choice[6]};

	rmpp_header_encode(&header, answer->bytes);
	sa_header_encode(&sa, answer->bytes + SA_HEADER_OFFSET);
}

/* Makes the record or notice about one of the wanted groups. */
static void name_group(uint8_t choice, struct mad_message *message)
{
	enum { TRAP_OFFSET = 4, NOTICE_GID_OFFSET = 16 };
	uint8_t *data = message->bytes + SA_DATA_OFFSET;
	struct gid mgid = gid_from(0xff1e424200000000u, choice % GROUPS);

	if (message->bytes[MAD_METHOD_OFFSET] != MAD_REPORT) {
		memcpy(data, mgid.bytes, sizeof(mgid.bytes));
		return;
	}
	put_be16(data + TRAP_OFFSET,
		 choice & 0x80 ? TRAP_MULTICAST_GROUP_CREATED : TRAP_MULTICAST_GROUP_DELETED);
	memcpy(data + NOTICE_GID_OFFSET, mgid.bytes, sizeof(mgid.bytes));
}

static struct mad_message make(const uint8_t *bytes, size_t byte_count)
{
	const uint8_t *data = bytes + CHOICE_BYTES;
	size_t data_bytes = byte_count - CHOICE_BYTES;
	struct mad_message message = {.address = {.lid = SA_LID, .qpn = QPN_GSI}};

	if (bytes[0] & 1 && asked_count) {
		message = answer_to(
			&asked[bytes[1] % (asked_count < ASKED_MAX ? asked_count : ASKED_MAX)],
			statuses[bytes[2] % ARRAY_COUNT(statuses)]);
		if (message.bytes[MAD_METHOD_OFFSET] == MAD_GET_TABLE_RESPONSE)
			make_table(bytes, &message);
	} else {
		message.bytes[0] = 1;
		message.bytes[MAD_VERSION_OFFSET] = SA_CLASS_VERSION;
		message.bytes[MAD_METHOD_OFFSET] = MAD_REPORT;
		put_be16(message.bytes + 16, SA_NOTICE);
	}
	if (bytes[0] & 2)
		memcpy(message.bytes + SA_DATA_OFFSET, data,
		       data_bytes < SA_DATA_BYTES ? data_bytes : SA_DATA_BYTES);
	if (bytes[0] & 4)
		name_group(bytes[1], &message);
	if ((bytes[0] & 0x38) == 0x38)
		memcpy(message.bytes, data, data_bytes < MAD_BYTES ? data_bytes : MAD_BYTES);
	/* The client does not get MADs of other classes. */
	message.bytes[MAD_CLASS_OFFSET] = MAD_CLASS_SUBNET_ADMINISTRATION;
	return message;
}

static void check(void)
{
	unsigned membership_count = 0;

	MUST_HOLD(client.answer_count <= GROUP_CLIENT_ANSWERS_MAX);
	MUST_HOLD(client.asked_count <= GROUPS + GROUP_CLIENT_TRAPS + 1);
	for (size_t i = 0; i < client.group_count; i++) {
		struct gid mgid = gid_from(client.groups[i].mgid_high, client.groups[i].mgid_low);

		MUST_HOLD(group_client_find(&client, &mgid));
		MUST_HOLD(i == 0 || client.groups[i - 1].mgid_high <= client.groups[i].mgid_high);
	}
	list_for_each (link, &client.memberships.all) {
		MUST_HOLD(group_membership_of(link)->mgid.bytes[15] < GROUPS);
		membership_count++;
	}
	MUST_HOLD(membership_count <= GROUPS);
}

/* From now on the SA does what the client asks, and has no other groups. */
static void serve(const struct mad_message *request)
{
	bool is_table = request->bytes[MAD_METHOD_OFFSET] == MAD_GET_TABLE;
	struct mad_message answer = answer_to(request, is_table ? SA_STATUS_NO_RECORDS : 0);

	if (request->bytes[MAD_METHOD_OFFSET] != MAD_REPORT_RESPONSE &&
	    !rmpp_mad_is_active(request->bytes))
		group_client_receive(&client, now, &answer);
}

static void end(void)
{
	time_ns end_at = now + SECONDS(200);
	struct mad_message message;

	for (unsigned step = 0; step < STEPS_MAX && now < end_at; step++) {
		if (send_one(&message))
			serve(&message);
		else if (group_client_deadline(&client) > now)
			now = time_earlier(group_client_deadline(&client), end_at);
	}
	MUST_HOLD(now >= end_at);
	MUST_HOLD(group_client_is_settled(&client) && !client.is_silent);
	list_for_each (link, &client.memberships.all)
		MUST_HOLD(group_membership_of(link)->joined == group_membership_of(link)->wanted);
	check();
	group_client_release(&client);
	is_alive = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const uint8_t join_states[] = {0, JOIN_FULL, JOIN_NON, JOIN_SEND_ONLY_FULL};
	struct mad_message message;

	if (byte_count < CHOICE_BYTES)
		return 0;
	if (!is_alive)
		start();
	if (bytes[0] & 0x40) {
		const struct mc_member_record group = group_of(bytes[7] % GROUPS);

		MUST_HOLD(group_client_want(&client, &group, join_states[bytes[7] >> 6]) == 0);
	}
	if (bytes[6] == 0)
		group_client_restart(&client);
	message = make(bytes, byte_count);
	group_client_receive(&client, now, &message);
	for (unsigned count = 0; send_one(&message); count++)
		MUST_HOLD(count < MESSAGES_MAX);
	if (bytes[0] & 0x80)
		now += MILLISECONDS(1) * bytes[3];
	check();
	if (++input_count % INPUTS_PER_LIFE == 0)
		end();
	return 0;
}
