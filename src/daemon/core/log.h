/* SPDX-License-Identifier: Apache-2.0 */
/* softibd's log: one line per event, with the time, to a file or to stderr. */
#ifndef SOFTIB_DAEMON_CORE_LOG_H
#define SOFTIB_DAEMON_CORE_LOG_H

#include "base/attributes.h"

/* Lines go to this file (appended), or to stderr while none is open. 0 or -errno. */
MUST_USE int log_open(const char *path);
void log_close(void);

void log_line(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
