/* SPDX-License-Identifier: Apache-2.0 */
/* Asks softibd to write the current counters into the sysfs tree. */
#ifndef SOFTIB_API_PATHSHIM_REFRESH_H
#define SOFTIB_API_PATHSHIM_REFRESH_H

/*
 * Sends one message to the control socket and waits for the answer, at most REFRESH_WAIT_MS.
 * Failures are ignored; the reader then gets the previous numbers. Async-signal-safe; keeps errno.
 */
enum { REFRESH_WAIT_MS = 200 };

void refresh_counters(const char *socket_path, const char *host);

#endif
