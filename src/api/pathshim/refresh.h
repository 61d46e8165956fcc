/* SPDX-License-Identifier: Apache-2.0 */
/* Asks softibd to write the current counters into the rendered tree. */
#ifndef SOFTIB_API_PATHSHIM_REFRESH_H
#define SOFTIB_API_PATHSHIM_REFRESH_H

/*
 * One message to the control socket, one answer, at most REFRESH_WAIT_MS. Failure is ignored: the
 * reader then gets the numbers of the last time. Async-signal-safe; leaves errno alone.
 */
enum { REFRESH_WAIT_MS = 200 };

void refresh_counters(const char *socket_path, const char *host);

#endif
