/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the counters in sysfs up to date for programs that read them without softib's libraries,
 * such as node_exporter: libraries that intercept the read ask softibd to write them first, and
 * others find figures that are at most a second old.
 *
 * The hosts take turns, at most one every COUNTER_FILES_PERIOD, so that many of them cost no more
 * than a few. Nothing is written, and softibd does not wake up, while nothing can have changed.
 */
#ifndef SOFTIB_DAEMON_SYSFS_COUNTER_FILES_H
#define SOFTIB_DAEMON_SYSFS_COUNTER_FILES_H

#include <stdint.h>
#include "base/time.h"

struct daemon_core;
struct sysfs_tree;

#define COUNTER_FILES_PERIOD MILLISECONDS(20)

struct counter_files {
	time_ns written_at;
	uint32_t work_seen;  /* fabric.work.tail at that time */
	uint32_t hosts_left; /* to write since something may have changed */
	uint32_t next_host;  /* index in the host table; the devices follow the hosts */
};

time_ns counter_files_deadline(const struct counter_files *files, const struct daemon_core *core,
			       const struct sysfs_tree *tree);
/* Writes the next host's counters if the deadline has come. */
void counter_files_run(struct counter_files *files, struct daemon_core *core,
		       struct sysfs_tree *tree);

#endif
