/* SPDX-License-Identifier: Apache-2.0 */
/* Get and Set of Notice in a general service class: the pending traps of the port, oldest first
 * (management 5.1, 5.3). A class that has them says so in ClassPortInfo (IsGetSetNoticeSupported).
 */
#ifndef SOFTIB_MGMT_AGENTS_CLASS_NOTICES_H
#define SOFTIB_MGMT_AGENTS_CLASS_NOTICES_H

#include "mgmt/agents/gs_agent.h"

enum mad_status class_notice_get(const struct gs_request *request, uint8_t *ret_data);
/* Removes the notice with this toggle and count, and returns the next one. */
enum mad_status class_notice_set(const struct gs_request *request, uint8_t *ret_data);

#endif
