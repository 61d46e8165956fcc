/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection of this process to its fabric: one per process, and the adapters of its host.
 *
 * Below it, from outside to inside: runtime/softibd_connection.h (the control socket),
 * runtime/process_runtime.h (the rings and pages shared with softibd and peers once an adapter is
 * open), runtime/adapter.h (one open adapter).
 */
#ifndef SOFTIB_RUNTIME_SESSION_H
#define SOFTIB_RUNTIME_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "runtime/adapter_description.h"

struct session;

/* Connects once per process (thread safe): SOFTIB_FABRIC and SOFTIB_HOST say where. If there is no
 * such fabric, the embedded default is started. 0, or -errno with nothing printed unless SOFTIB_LOG
 * is set. After a fork the child gets a session of its own; when softibd has ended and no adapter
 * is open any more, the process gets one with the next softibd. */
MUST_USE int session_get(struct session **ret_session);

/* softibd has ended, and this process has not attached to the next one yet. */
bool session_has_ended(void);

unsigned session_adapter_count(const struct session *session);
const struct adapter_description *session_adapter(const struct session *session, unsigned index);
/* Root of the sysfs tree: <tree>/sys, <tree>/dev. */
const char *session_tree(const struct session *session);

#endif
