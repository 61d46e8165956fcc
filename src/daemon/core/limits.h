/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one process, and all processes together, may have softibd keep for them. docs/security.md
 * has the same table with the reasons.
 */
#ifndef SOFTIB_DAEMON_CORE_LIMITS_H
#define SOFTIB_DAEMON_CORE_LIMITS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/time.h"

/* LIMIT(name, for one process, for all, floor, errno, what an error calls it)
 *
 * What a process has up to the floor does not count among what all have, so that other processes
 * can't take it from an honest one. A program is cut off, or its MADs are lost, when it has no room
 * for events and MADs. There are as many floors as connections, so they are small.
 *
 * Descriptors: at most these, and at most half of RLIMIT_NOFILE for one process; softibd keeps some
 * for itself and for operators (accounts_init()). */
#define LIMITS(LIMIT)                                                                              \
	LIMIT(CONNECTIONS, 256, 16384, 0, EMFILE, "control connections")                           \
	LIMIT(DESCRIPTORS, 16384, 1 << 20, 0, EMFILE, "descriptors in softibd")                    \
	LIMIT(QPN_BLOCKS, 8192, UINT32_MAX, 0, ENOSPC, "blocks of queue pair numbers")             \
	LIMIT(RINGS, 4096, 1 << 18, 0, ENOSPC, "direct rings")                                     \
	LIMIT(OFFERED_RINGS, 16384, 1 << 18, 0, ENOSPC, "direct rings from others")                \
	LIMIT(GRANTS, 8192, 1 << 17, 0, ENOSPC, "grants of direct rings")                          \
	LIMIT(CM_IDS, 1 << 16, 1 << 18, 16, EMFILE, "communication ids")                           \
	LIMIT(CM_EVENT_BYTES, 32 << 20, 256 << 20, 1 << 14, ENOBUFS, "bytes of unread CM events")  \
	LIMIT(MULTICAST, 1 << 14, 1 << 17, 16, ENOMEM, "multicast groups and memberships")         \
	LIMIT(MAD_PORTS, 256, 16384, 2, EMFILE, "ports open for MADs")                             \
	LIMIT(MAD_AGENTS, 2048, 16384, 2, ENOMEM, "MAD agents")                                    \
	LIMIT(MAD_REQUESTS, 16384, 1 << 17, 16, ENOBUFS, "MADs that wait to be sent or answered")  \
	LIMIT(MAD_BYTES, 160 << 20, 512 << 20, 1 << 14, ENOBUFS,                                   \
	      "bytes of unread, unsent or partial MADs")                                           \
	LIMIT(CAPTURES, 8, 64, 0, EBUSY, "captures")                                               \
	LIMIT(CAPTURE_KIBIBYTES, 1 << 19, 1 << 21, 0, ENOMEM, "KiB of capture rings")              \
	LIMIT(XRC_DOMAINS, 1024, 1 << 16, 0, ENOSPC, "XRC domains open")                           \
	LIMIT(XRC_TARGETS, 1 << 16, 1 << 18, 0, ENOSPC, "XRC targets open")                        \
	LIMIT(XRC_PACKET_BYTES, 64 << 20, 256 << 20, 1 << 16, ENOBUFS, "bytes of XRC packets")

#define LIMIT_NAME(name, process, all, floor, error, text) LIMIT_##name,
enum limit { LIMITS(LIMIT_NAME) LIMIT_COUNT };
#undef LIMIT_NAME

/* Of all clients together; the log says how many lines were left out. */
enum { LIMIT_LOG_LINES_PER_SECOND = 200 };

enum { LIMIT_TEXT_BYTES = 160 };

struct accounts {
	struct hash_table by_process;
	uint32_t used[LIMIT_COUNT]; /* by all, beyond their floors */
	uint32_t process_max[LIMIT_COUNT];
	uint32_t all_max[LIMIT_COUNT];
	uint32_t floor[LIMIT_COUNT];
};

/* What softibd keeps for one process. It lives as long as anything that belongs to it. */
struct account {
	struct accounts *accounts;
	uint64_t key;
	uint32_t reference_count;
	uint32_t used[LIMIT_COUNT];
	time_ns time_spent; /* of softibd's, less what time has given back: daemon/core/fair_share.h
			     */
	time_ns paid_at;
	struct file_closer *closer; /* of files that it handed over (daemon/core/file_closer.h) */
	enum limit refused;	    /* the last limit that account_take() met; LIMIT_COUNT: none */
};

void accounts_init(struct accounts *accounts);
void accounts_release(struct accounts *accounts);

/* The account of a process, with a reference for the caller; NULL: no memory. Process 0 is one in
 * another PID namespace, which softibd can't tell from others: each connection of such a process
 * has an account of its own, by `connection`. */
struct account *account_of(struct accounts *accounts, pid_t pid, uint32_t connection);
/* Another reference, for an object that may outlive the connection that it came by. */
struct account *account_share(struct account *account);
void account_release(struct account *account);

/* Returns 0, or the limit's negative errno, and then nothing was taken. */
MUST_USE int account_take(struct account *account, enum limit limit, uint32_t count);
/* How many account_take() would grant. */
uint32_t account_room(const struct account *account, enum limit limit);
void account_give(struct account *account, enum limit limit, uint32_t count);

/* "softibd keeps 256 control connections for this process; a process may have 256" */
void account_explain(const struct account *account, enum limit limit,
		     char ret_text[static LIMIT_TEXT_BYTES]);

#endif
