/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of an I/O controller: prepared, then run once or in a loop, with a DiagCode at its
 * end (management 6.3). */
#ifndef SOFTIB_MGMT_AGENTS_IO_DIAGNOSTICS_H
#define SOFTIB_MGMT_AGENTS_IO_DIAGNOSTICS_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/mad.h"

#define IO_TEST_PREPARE_TIME MILLISECONDS(10)
#define IO_TEST_RUN_TIME     MILLISECONDS(100)

enum { IO_TEST_TIME_MAX_MS = 110 }; /* MaxDiagTime: both */

enum io_test_state {
	IO_TEST_IDLE,
	IO_TEST_PREPARING,
	IO_TEST_READY,
	IO_TEST_ONCE,
	IO_TEST_LOOP,
};

struct io_diagnostics {
	enum io_test_state state;
	time_ns due_at;	       /* the end of the present state; TIME_NEVER: none */
	uint16_t diag_code;    /* of the last test; DIAG_CODE_PASSED: passed, or none yet */
	uint16_t next_outcome; /* the code with which tests end */
};

void io_diagnostics_init(struct io_diagnostics *test);

/* Each returns the status of the response. A repeated request is harmless (management 1.5). */
MUST_USE enum mad_status io_diagnostics_prepare(struct io_diagnostics *test, time_ns now);
MUST_USE enum mad_status io_diagnostics_start(struct io_diagnostics *test, time_ns now,
					      enum io_test_state once_or_loop);
/* MAD_STATUS_BUSY: not ready. */
MUST_USE enum mad_status io_diagnostics_is_prepared(const struct io_diagnostics *test);
/* MAD_STATUS_BUSY: the test runs. */
MUST_USE enum mad_status io_diagnostics_code(const struct io_diagnostics *test, uint16_t *ret_code);

/* Call it when due_at has come. Returns whether the controller became ready for its test, which
 * raises trap 514. */
MUST_USE bool io_diagnostics_run(struct io_diagnostics *test, time_ns now);

#endif
