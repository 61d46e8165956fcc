/* SPDX-License-Identifier: Apache-2.0 */
/* The target's main thread: connections come and go. */
#ifndef SOFTIB_IO_TARGET_TARGET_LOOP_H
#define SOFTIB_IO_TARGET_TARGET_LOOP_H

#include "base/attributes.h"
#include "io/target/target_listener.h"

/* Runs until stop_file is readable, or connection management ends. Returns 0, or the negative errno
 * of the latter. All channels are ended then. */
MUST_USE int target_loop_run(struct target_listener *listener, int stop_file);

#endif
