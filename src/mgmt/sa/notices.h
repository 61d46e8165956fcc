/* SPDX-License-Identifier: Apache-2.0 */
/* Notices that are sent as reports: the subscribers that get them, and the notices of the SA itself
 * (management 3.7, 4.8). */
#ifndef SOFTIB_MGMT_SA_NOTICES_H
#define SOFTIB_MGMT_SA_NOTICES_H

#include "base/time.h"
#include "wire/gid.h"
#include "wire/notice.h"

struct sa;
struct subnet;

/* TRAP_MULTICAST_GROUP_CREATED or _DELETED, for subscribers that have the group's P_Key. */
void notices_multicast(struct sa *sa, time_ns now, enum trap_number trap, const struct gid *mgid,
		       uint16_t pkey);

#endif
