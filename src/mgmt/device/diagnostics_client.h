/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the self-test of an I/O controller: PrepareToTest, TestDeviceOnce, then DiagCode until the
 * test is over (management 6.3). MADs and time go in; MADs come out. */
#ifndef SOFTIB_MGMT_DEVICE_DIAGNOSTICS_CLIENT_H
#define SOFTIB_MGMT_DEVICE_DIAGNOSTICS_CLIENT_H

#include "mgmt/sa/class_client.h"

enum diagnostics_client_state {
	DIAGNOSTICS_TIMEOUT, /* reads how long the test takes at most */
	DIAGNOSTICS_PREPARE,
	DIAGNOSTICS_AWAIT_PREPARED,
	DIAGNOSTICS_START,
	DIAGNOSTICS_AWAIT_CODE,
	DIAGNOSTICS_DONE,     /* diag_code */
	DIAGNOSTICS_REFUSED,  /* status */
	DIAGNOSTICS_SILENT,   /* no response, or a redirection that can't be followed */
	DIAGNOSTICS_TOO_LONG, /* longer than the controller said */
};

struct diagnostics_client {
	enum diagnostics_client_state state;
	struct class_client client;
	struct mad_address address;
	uint8_t slot;
	bool is_asked;	    /* the request of this state is under way */
	time_ns ask_at;	    /* not before this time */
	time_ns give_up_at; /* of the present phase */
	time_ns phase_time;
	uint16_t status;
	uint16_t diag_code;
};

/* The caller sets SA and GID of test->client.sa. */
MUST_USE int diagnostics_client_init(struct diagnostics_client *test,
				     const struct class_client_options *options,
				     const struct mad_address *address, uint8_t slot);
void diagnostics_client_release(struct diagnostics_client *test);

void diagnostics_client_receive(struct diagnostics_client *test, time_ns now,
				const struct mad_message *message);
unsigned diagnostics_client_transmit(struct diagnostics_client *test, time_ns now,
				     unsigned messages_max, struct mad_message ret_messages[]);
time_ns diagnostics_client_deadline(const struct diagnostics_client *test);
bool diagnostics_client_is_done(const struct diagnostics_client *test);

#endif
