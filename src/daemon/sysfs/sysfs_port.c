/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs files of one port, in Linux's formats. */
#include "daemon/sysfs/sysfs_port.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "daemon/sysfs/rate_text.h"
#include "daemon/sysfs/sysfs_file.h"
#include "net/link/port.h"
#include "wire/gid.h"

/* FIXED_FILES come before gids and pkeys; TEXT_BYTES holds the longest text. */
enum { FIXED_FILES = 8, TEXT_BYTES = 96 };

static const char *const state_names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};
static const char *const physical_names[] = {"No change",
					     "Sleep",
					     "Polling",
					     "Disabled",
					     "PortConfigurationTraining",
					     "LinkUp",
					     "LinkErrorRecovery",
					     "Phy Test"};

#define COUNTER(file, member)                                                                      \
	{                                                                                          \
		file, offsetof(struct link_counters, member)                                       \
	}

/* Linux's names; the numbers are those that the performance agent reads. */
static const struct {
	const char *file;
	size_t offset;
} counter_files[] = {
	COUNTER("symbol_error", symbol_errors),
	COUNTER("link_error_recovery", link_error_recovery),
	COUNTER("link_downed", link_downed),
	COUNTER("port_rcv_errors", receive_errors),
	COUNTER("port_rcv_remote_physical_errors", receive_remote_physical_errors),
	COUNTER("port_rcv_switch_relay_errors", receive_switch_relay_errors),
	COUNTER("port_xmit_discards", transmit_discards),
	COUNTER("port_xmit_constraint_errors", transmit_constraint_errors),
	COUNTER("port_rcv_constraint_errors", receive_constraint_errors),
	COUNTER("local_link_integrity_errors", local_link_integrity_errors),
	COUNTER("excessive_buffer_overrun_errors", excessive_buffer_overruns),
	COUNTER("VL15_dropped", vl15_dropped),
	COUNTER("port_xmit_wait", transmit_wait),
	COUNTER("port_xmit_data", transmit_words),
	COUNTER("port_rcv_data", receive_words),
	COUNTER("port_xmit_packets", transmit_packets),
	COUNTER("port_rcv_packets", receive_packets),
	COUNTER("unicast_xmit_packets", unicast_transmit_packets),
	COUNTER("unicast_rcv_packets", unicast_receive_packets),
	COUNTER("multicast_xmit_packets", multicast_transmit_packets),
	COUNTER("multicast_rcv_packets", multicast_receive_packets),
};

static void format_gid(uint64_t prefix, uint64_t guid, char ret_text[static 40])
{
	struct gid gid = gid_from(prefix, guid);
	int length = 0;

	for (unsigned index = 0; index < 16; index += 2)
		length += snprintf(ret_text + length, 40 - (size_t)length, "%s%02x%02x",
				   index ? ":" : "", gid.bytes[index], gid.bytes[index + 1]);
}

/* State while the files of one port are written one after the other. */
struct writer {
	const char *folder;
	struct sysfs_port_shown *shown;
	unsigned index; /* index of the next file */
	int error;	/* the first error */
};

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static void write_file(struct writer *writer, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* A manager sets PortInfo several times when it brings up a port, and changes a field or two each
 * time: only the files whose text changed are written. */
static void write_file(struct writer *writer, const char *name, const char *format, ...)
{
	unsigned index = writer->index++;
	uint64_t *shown = writer->shown && index < writer->shown->hash_count
				  ? &writer->shown->hashes[index]
				  : NULL;
	char text[TEXT_BYTES];
	va_list arguments;
	int error;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (shown && *shown == hash_of(text))
		return;
	error = sysfs_file_write(writer->folder, name, "%s", text);
	if (shown)
		*shown = error ? 0 : hash_of(text);
	keep_first(&writer->error, error);
}

static void write_gids(struct writer *writer, const struct port *port)
{
	for (unsigned index = 0; index < port->info.guid_cap; index++) {
		uint64_t guid = index == 0 ? port->guid : port->guids[index];
		char name[32], text[40];

		format_gid(guid ? port->info.gid_prefix : 0, guid, text);
		snprintf(name, sizeof(name), "gids/%u", index);
		write_file(writer, name, "%s", text);
	}
}

static void write_pkeys(struct writer *writer, const struct port *port)
{
	for (unsigned index = 0; index < port->pkey_count; index++) {
		char name[32];

		snprintf(name, sizeof(name), "pkeys/%u", index);
		write_file(writer, name, "0x%04x", port->pkeys[index]);
	}
}

/* The folder is new: no file is written yet. Without memory for hashes every file is written every
 * time. */
static void forget_shown(struct sysfs_port_shown **shown, const struct port *port)
{
	unsigned hash_count = FIXED_FILES + port->info.guid_cap + port->pkey_count;

	free(*shown);
	*shown = calloc(1, sizeof(**shown) + hash_count * sizeof((*shown)->hashes[0]));
	if (*shown)
		(*shown)->hash_count = hash_count;
}

int sysfs_port_create(const char *folder, const struct port *port, struct sysfs_port_shown **shown)
{
	static const char *const folders[] = {
		"gids", "pkeys", "gid_attrs/types", "gid_attrs/ndevs", "counters", "hw_counters"};
	int error = 0;

	for (unsigned index = 0; index < ARRAY_COUNT(folders); index++)
		keep_first(&error, sysfs_folder_make(folder, folders[index]));
	keep_first(&error, sysfs_file_write(folder, "link_layer", "InfiniBand"));
	for (unsigned index = 0; index < port->info.guid_cap; index++) {
		char name[32];

		snprintf(name, sizeof(name), "gid_attrs/types/%u", index);
		keep_first(&error, sysfs_file_write(folder, name, "IB/RoCE v1"));
	}
	forget_shown(shown, port);
	keep_first(&error, sysfs_port_write(folder, port, *shown));
	keep_first(&error, sysfs_port_write_counters(folder, port, *shown));
	return error;
}

int sysfs_port_write(const char *folder, const struct port *port, struct sysfs_port_shown *shown)
{
	const struct port_info *info = &port->info;
	struct writer writer = {.folder = folder, .shown = shown};
	char rate[LINK_RATE_TEXT_BYTES];

	link_rate_text(info, rate);
	write_file(&writer, "state", "%u: %s", info->port_state,
		   state_names[info->port_state % ARRAY_COUNT(state_names)]);
	write_file(&writer, "phys_state", "%u: %s", info->physical_state,
		   physical_names[info->physical_state % ARRAY_COUNT(physical_names)]);
	write_file(&writer, "lid", "0x%x", info->lid);
	write_file(&writer, "lid_mask_count", "%u", info->lmc);
	write_file(&writer, "sm_lid", "0x%x", info->master_sm_lid);
	write_file(&writer, "sm_sl", "%u", info->master_sm_sl);
	write_file(&writer, "cap_mask", "0x%08x", info->capability_mask);
	write_file(&writer, "rate", "%s", rate);
	write_gids(&writer, port);
	write_pkeys(&writer, port);
	return writer.error;
}

int sysfs_port_write_counters(const char *folder, const struct port *port,
			      struct sysfs_port_shown *shown)
{
	int error = 0;

	_Static_assert(ARRAY_COUNT(counter_files) == SYSFS_COUNTER_FILES, "a value for each file");
	for (unsigned index = 0; index < ARRAY_COUNT(counter_files); index++) {
		const uint64_t *value = (const uint64_t *)((const char *)&port->counters +
							   counter_files[index].offset);
		char name[64];

		if (shown && shown->has_counters && shown->counters[index] == *value)
			continue;
		snprintf(name, sizeof(name), "counters/%s", counter_files[index].file);
		keep_first(&error, sysfs_file_write(folder, name, "%" PRIu64, *value));
		if (shown)
			shown->counters[index] = *value;
	}
	/* After an error all are written again. */
	if (shown)
		shown->has_counters = !error;
	return error;
}
