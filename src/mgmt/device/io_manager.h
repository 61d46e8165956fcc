/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O resource manager of a host: asks the SA for ports with device management, then reads the
 * I/O units behind them, many at once (management 6.3). MADs and time go in; MADs come out.
 *
 *	io_manager_scan(manager)
 *	io_manager_receive(manager, now, &message)
 *	count = io_manager_transmit(manager, now, ...)
 *	until io_manager_is_done(manager); then read manager->units
 */
#ifndef SOFTIB_MGMT_DEVICE_IO_MANAGER_H
#define SOFTIB_MGMT_DEVICE_IO_MANAGER_H

#include "mgmt/device/unit_reader.h"
#include "mgmt/mad/transactions.h"
#include "mgmt/sa/sa_client.h"
#include "wire/subnet_attributes.h"

enum {
	IO_UNITS_MAX = 4096,		 /* of a scan */
	IO_SERVICES_FOUND_MAX = 1 << 20, /* of all units */
};

struct io_manager_options {
	/* 0: the defaults. */
	unsigned requests_max;
	unsigned tries;
	time_ns timeout;
	uint32_t agent_number; /* of device management: the upper half of transaction ids */
	struct sa_client_options sa;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint16_t sa_pkey;
	struct gid own_gid;
};

enum io_unit_state {
	IO_UNIT_FINDING_NODE, /* the SA is asked for its NodeRecord */
	IO_UNIT_FINDING_PATH,
	IO_UNIT_READING,     /* or read: the reader's state */
	IO_UNIT_UNREACHABLE, /* the SA has no node or no path of it */
};

struct io_found_unit {
	struct list ready_link; /* in the manager, while it has requests to send */
	enum io_unit_state state;
	uint64_t node_guid;
	struct gid gid; /* of its port */
	uint16_t lid;
	uint8_t sl;
	uint16_t pkey;
	char description[NODE_DESCRIPTION_BYTES + 1];
	struct unit_reader reader;
};

enum io_scan_state { IO_SCAN_IDLE, IO_SCAN_RUNNING, IO_SCAN_DONE, IO_SCAN_NO_SA };

struct io_manager {
	struct io_manager_options options;
	struct sa_client sa;
	struct mad_transactions transactions;
	enum io_scan_state state;
	struct io_found_unit **units;
	unsigned unit_count;
	unsigned units_left; /* to be read */
	unsigned services_left;
	bool is_truncated; /* there were more units than IO_UNITS_MAX */
	struct list ready;
	time_ns began_at, ended_at; /* began_at: of the first MAD */
};

MUST_USE int io_manager_init(struct io_manager *manager, const struct io_manager_options *options);
void io_manager_release(struct io_manager *manager);

/* Begins a scan, which forgets the units of the one before. -ENOMEM. */
MUST_USE int io_manager_scan(struct io_manager *manager);

void io_manager_receive(struct io_manager *manager, time_ns now, const struct mad_message *message);
unsigned io_manager_transmit(struct io_manager *manager, time_ns now, unsigned messages_max,
			     struct mad_message ret_messages[]);
time_ns io_manager_deadline(const struct io_manager *manager);
bool io_manager_is_done(const struct io_manager *manager);

#endif
