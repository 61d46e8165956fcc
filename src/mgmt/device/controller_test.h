/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the self-test of an I/O controller: PrepareToTest, TestDeviceOnce, then DiagCode until the
 * test is over (management 6.3). MADs and time go in; MADs come out. */
#ifndef SOFTIB_MGMT_DEVICE_CONTROLLER_TEST_H
#define SOFTIB_MGMT_DEVICE_CONTROLLER_TEST_H

#include "mgmt/mad/transactions.h"

enum controller_test_state {
	CONTROLLER_TEST_TIMEOUT, /* reads how long the test takes at most */
	CONTROLLER_TEST_PREPARE,
	CONTROLLER_TEST_AWAIT_PREPARED,
	CONTROLLER_TEST_START,
	CONTROLLER_TEST_AWAIT_CODE,
	CONTROLLER_TEST_DONE,	  /* diag_code */
	CONTROLLER_TEST_REFUSED,  /* status */
	CONTROLLER_TEST_SILENT,	  /* no response */
	CONTROLLER_TEST_TOO_LONG, /* longer than the controller said */
};

struct controller_test {
	enum controller_test_state state;
	struct mad_transactions transactions;
	struct mad_address address;
	uint8_t slot;
	bool is_asked;	    /* the request of this state is under way */
	time_ns ask_at;	    /* not before this time */
	time_ns give_up_at; /* of the present phase */
	time_ns phase_time;
	uint16_t status;
	uint16_t diag_code;
};

MUST_USE int controller_test_init(struct controller_test *test,
				  const struct mad_transactions_options *options,
				  const struct mad_address *address, uint8_t slot);
void controller_test_release(struct controller_test *test);

void controller_test_receive(struct controller_test *test, time_ns now,
			     const struct mad_message *message);
unsigned controller_test_transmit(struct controller_test *test, time_ns now, unsigned messages_max,
				  struct mad_message ret_messages[]);
time_ns controller_test_deadline(const struct controller_test *test);
bool controller_test_is_done(const struct controller_test *test);

#endif
