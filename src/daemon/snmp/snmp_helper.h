/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process softib-snmpd, which has net-snmp's agent library in it: started at the first message,
 * restarted when it dies, killed when it hangs. softibd never waits for it.
 */
#ifndef SOFTIB_DAEMON_SNMP_SNMP_HELPER_H
#define SOFTIB_DAEMON_SNMP_SNMP_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/core/event_loop.h"
#include "ipc/snmp_link.h"

struct snmp_helper_owner {
	/* An answer, notification or log line. */
	void (*received)(void *context, const struct snmp_link_header *header, const uint8_t *bytes,
			 size_t byte_count);
	/* A question of struct snmp_state_question; ret_answer has room for SNMP_STATE_BYTES_MAX
	 * bytes. Returns the length of the answer. */
	size_t (*asked)(void *context, const struct snmp_state_question *question,
			uint8_t *ret_answer);
	/* What was sent and not answered is lost. */
	void (*gone)(void *context);
	void *context;
};

enum {
	SNMP_STATE_BYTES_MAX = sizeof(struct snmp_node_state) +
			       SNMP_STATE_PORTS_MAX * sizeof(struct snmp_port_state) +
			       SNMP_STATE_PKEYS_MAX * sizeof(struct snmp_pkey_state),
};

struct snmp_helper {
	struct event_loop *loop;
	struct snmp_helper_owner owner;
	const char *config_path; /* NULL: the default communities */
	pid_t pid;		 /* 0: not running */
	int process, messages, state;
	struct watch process_watch, messages_watch, state_watch;
	unsigned start_count;
	time_ns began_at; /* the fabric */
	time_ns starts_from;
	bool is_missing; /* the program can't be started; said once */
};

void snmp_helper_init(struct snmp_helper *helper, struct event_loop *loop,
		      const struct snmp_helper_owner *owner, const char *config_path);
void snmp_helper_release(struct snmp_helper *helper);

/* Whether the program is there: a softib without net-snmp has none. */
bool snmp_helper_is_installed(void);

static inline bool snmp_helper_is_running(const struct snmp_helper *helper)
{
	return helper->pid != 0;
}

/* Sends a message, after starting the process if need be. false: it is not there, was started too
 * often lately, or its socket is full. */
MUST_USE bool snmp_helper_send(struct snmp_helper *helper, const struct snmp_link_header *header,
			       const void *bytes, size_t byte_count);
/* The process did not answer in time. owner.gone follows. */
void snmp_helper_kill(struct snmp_helper *helper);

#endif
