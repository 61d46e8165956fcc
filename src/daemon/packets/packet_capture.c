/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: packets that pass chosen ports, copied into a ring that a reader empties. */
#include "daemon/packets/packet_capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/bytes.h"
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "daemon/packets/packet_plane.h"
#include "fabric/tap.h"
#include "ipc/capture_ring.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"
#include "wire/packet.h"

enum { BYTES_PER_KIBIBYTE = 1024 };

struct tapped_port {
	const struct port *port;
	uint32_t interface_index; /* in the order of capture_share.ports */
};

struct capture {
	struct list link; /* packet_plane.captures */
	struct packet_plane *plane;
	struct client *client;
	struct port_list ports;
	struct tapped_port *by_address; /* sorted by address, for binary search */
	struct capture_filter filter;
	void *memory;
	size_t memory_bytes;
	uint32_t ring_bytes; /* 0: not taken from the limits yet */
	int memory_file;
	int doorbell;
	struct ring_producer ring;
	struct capture_totals *totals;
	struct capture_totals
		counts; /* softibd's own copy: the reader can write the shared totals */
	/* The last packet stays uncommitted until the next one or the end of the turn, so that its
	 * record can still get the reason of a drop. */
	struct ring_record *pending;
	const struct frame *pending_frame;
	const struct port *pending_port;
};

static int compare_ports(const void *left, const void *right)
{
	uintptr_t a = (uintptr_t)((const struct tapped_port *)left)->port;
	uintptr_t b = (uintptr_t)((const struct tapped_port *)right)->port;

	return (a > b) - (a < b);
}

/* -1: the capture does not include this port. */
static int interface_of(const struct capture *capture, const struct port *port)
{
	struct tapped_port key = {.port = port};
	const struct tapped_port *found = bsearch(
		&key, capture->by_address, capture->ports.port_count, sizeof(key), compare_ports);

	return found ? (int)found->interface_index : -1;
}

static void commit_pending(struct capture *capture)
{
	if (capture->pending)
		ring_commit(&capture->ring, capture->pending);
	capture->pending = NULL;
}

/* Whether the packet was on its way in or out of the port; for a drop, worked out from the frame.
 */
static enum capture_direction direction_of(enum tap_event event, const struct port *port,
					   const struct frame *frame)
{
	switch (event) {
	case TAP_RECEIVED:
		return CAPTURE_IN;
	case TAP_SENT:
	case TAP_LOOPED:
		return CAPTURE_OUT;
	case TAP_DROPPED:
		break;
	}
	if (port->kind == PORT_OF_ADAPTER)
		return port_owns_lid(port, get_be16(frame->bytes + 6)) ? CAPTURE_OUT : CAPTURE_IN;
	return frame->input_port == port->number ? CAPTURE_IN : CAPTURE_OUT;
}

static void put_record(struct capture *capture, const struct capture_record *head,
		       const struct frame *frame)
{
	uint32_t crc_bytes = !frame->has_crcs ? 0 : frame->has_icrc ? FRAME_CRC_BYTES : VCRC_BYTES;
	uint32_t byte_count = (uint32_t)sizeof(*head) + frame->byte_count + crc_bytes;
	struct ring_record *record = ring_reserve(&capture->ring, byte_count);

	capture->counts.seen++;
	if (!record) {
		capture->counts.missed++;
		return;
	}
	record->kind = CAPTURE_RECORD_PACKET;
	record->port = 0;
	record->packet_count = 1;
	record->word = 0;
	record->byte_count = byte_count;
	memcpy(record->body, head, sizeof(*head));
	memcpy(record->body + sizeof(*head), frame->bytes, frame->byte_count);
	memcpy(record->body + sizeof(*head) + frame->byte_count,
	       frame->crcs + FRAME_CRC_BYTES - crc_bytes, crc_bytes);
	capture->pending = record;
}

static void show(struct capture *capture, enum tap_event event, int interface_index,
		 const struct port *port, const struct frame *frame, enum drop_reason reason)
{
	bool was_shown = event == TAP_DROPPED && capture->pending_frame == frame &&
			 capture->pending_port == port;

	if (was_shown && capture->pending) {
		((struct capture_record *)(void *)capture->pending->body)->drop_reason =
			(uint8_t)reason;
		return;
	}
	if (!capture_filter_matches(&capture->filter, frame->bytes, frame->byte_count))
		return;
	commit_pending(capture);

	struct capture_record head = {
		.time_ns = capture->plane->core->fabric.now,
		.interface_index = (uint32_t)interface_index,
		.direction = (uint8_t)direction_of(event, port, frame),
		.drop_reason = (uint8_t)reason,
		.has_crcs = frame->has_crcs,
		.is_loopback = event == TAP_LOOPED,
	};

	put_record(capture, &head, frame);
	capture->pending_frame = frame;
	capture->pending_port = port;
}

static void seen(void *context, enum tap_event event, const struct port *port,
		 const struct frame *frame, enum drop_reason reason)
{
	struct packet_plane *plane = context;

	list_for_each (link, &plane->captures) {
		struct capture *capture = container_of(link, struct capture, link);
		int interface_index = interface_of(capture, port);

		if (interface_index >= 0)
			show(capture, event, interface_index, port, frame, reason);
	}
}

static int take_limits(struct capture *capture, uint32_t ring_bytes)
{
	struct account *account = capture->client->account;
	int error = account_take(account, LIMIT_CAPTURES, 1);

	if (error)
		return error;
	error = account_take(account, LIMIT_CAPTURE_KIBIBYTES, ring_bytes / BYTES_PER_KIBIBYTE);
	if (error)
		account_give(account, LIMIT_CAPTURES, 1);
	else
		capture->ring_bytes = ring_bytes;
	return error;
}

static void give_limits(const struct capture *capture)
{
	struct account *account = capture->client->account;

	if (!capture->ring_bytes)
		return;
	account_give(account, LIMIT_CAPTURE_KIBIBYTES, capture->ring_bytes / BYTES_PER_KIBIBYTE);
	account_give(account, LIMIT_CAPTURES, 1);
}

static void destroy(struct capture *capture)
{
	give_limits(capture);
	if (capture->memory)
		munmap(capture->memory, capture->memory_bytes);
	if (capture->memory_file >= 0)
		close(capture->memory_file);
	if (capture->doorbell >= 0)
		close(capture->doorbell);
	port_list_release(&capture->ports);
	free(capture->by_address);
	free(capture);
}

static int make_ring(struct capture *capture, uint32_t ring_bytes)
{
	struct capture_layout layout = capture_layout(ring_bytes);
	int error = memory_file_create("softib-capture", layout.total_bytes, &capture->memory_file,
				       &capture->memory);

	if (error)
		return error;
	capture->memory_bytes = layout.total_bytes;
	ring_shared_init(capture->memory);
	ring_producer_init(&capture->ring, capture->memory, ring_bytes);
	capture->totals = (void *)((uint8_t *)capture->memory + layout.totals_offset);
	capture->doorbell = doorbell_make();
	return capture->doorbell < 0 ? capture->doorbell : 0;
}

static int index_ports(struct capture *capture)
{
	uint32_t count = capture->ports.port_count;

	capture->by_address = calloc(count, sizeof(*capture->by_address));
	if (!capture->by_address)
		return -ENOMEM;
	for (uint32_t index = 0; index < count; index++)
		capture->by_address[index] =
			(struct tapped_port){capture->ports.ports[index], index};
	qsort(capture->by_address, count, sizeof(*capture->by_address), compare_ports);
	return 0;
}

static struct capture *capture_of(const struct packet_plane *plane, const struct client *client)
{
	list_for_each (link, &plane->captures) {
		struct capture *capture = container_of(link, struct capture, link);

		if (capture->client == client)
			return capture;
	}
	return NULL;
}

int capture_start(struct packet_plane *plane, struct client *client, struct port_list *ports,
		  const struct capture_filter *filter, uint32_t ring_bytes,
		  struct capture **ret_capture)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	int error = capture ? 0 : -ENOMEM;

	if (error) {
		port_list_release(ports);
		return error;
	}
	capture->plane = plane;
	capture->client = client;
	capture->ports = *ports;
	capture->filter = *filter;
	capture->memory_file = -1;
	capture->doorbell = -1;
	*ports = (struct port_list){0};
	if (capture_of(plane, client))
		error = -EBUSY;
	if (!error)
		error = take_limits(capture, ring_bytes);
	if (!error)
		error = index_ports(capture);
	if (!error)
		error = make_ring(capture, ring_bytes);
	if (error) {
		destroy(capture);
		return error;
	}
	plane->core->fabric.tap = (struct fabric_tap){.seen = seen, .context = plane};
	for (uint32_t index = 0; index < capture->ports.port_count; index++)
		fabric_tap_add(&plane->core->fabric, capture->ports.ports[index]);
	list_append(&plane->captures, &capture->link);
	plane->capture_count++;
	*ret_capture = capture;
	return 0;
}

void capture_share(const struct capture *capture, struct capture_share *ret_share)
{
	*ret_share = (struct capture_share){.memory_file = capture->memory_file,
					    .doorbell = capture->doorbell,
					    .ports = &capture->ports};
}

void captures_publish(struct packet_plane *plane)
{
	list_for_each (link, &plane->captures) {
		struct capture *capture = container_of(link, struct capture, link);

		commit_pending(capture);
		capture->pending_frame = NULL;
		*capture->totals = capture->counts;
		if (ring_publish(&capture->ring))
			doorbell_ring(capture->doorbell);
		if (capture->ring.is_corrupt)
			client_end(capture->client, "its capture ring is corrupt");
	}
}

void capture_client_gone(struct packet_plane *plane, const struct client *client)
{
	struct capture *capture = plane->capture_count ? capture_of(plane, client) : NULL;

	if (!capture)
		return;
	for (uint32_t index = 0; index < capture->ports.port_count; index++)
		fabric_tap_remove(&plane->core->fabric, capture->ports.ports[index]);
	list_remove(&capture->link);
	plane->capture_count--;
	destroy(capture);
}

json_t *captures_describe(const struct packet_plane *plane)
{
	enum { NAMES_MAX = 8 };
	json_t *rows = json_array();

	list_for_each (link, &plane->captures) {
		const struct capture *capture = container_of(link, struct capture, link);
		json_t *names = json_array();

		for (uint32_t index = 0; index < capture->ports.port_count && index < NAMES_MAX;
		     index++) {
			char name[PORT_NAME_BYTES];

			port_name_text(capture->ports.ports[index], name);
			json_array_append_new(names, json_string(name));
		}
		json_array_append_new(rows,
				      json_pack("{s:i, s:i, s:o, s:I, s:I}", "pid",
						(int)capture->client->pid, "port_count",
						(int)capture->ports.port_count, "ports", names,
						"packets", (json_int_t)capture->counts.seen,
						"missed", (json_int_t)capture->counts.missed));
	}
	return rows;
}
