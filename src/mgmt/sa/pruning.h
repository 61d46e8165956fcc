/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast pruning: from time to time the SA verifies that members still take part, and removes
 * those that do not.
 *
 * The only request that an end node must react to is ClientReregister: its clients join again. So
 * in each period the SA has it set at every port that joined groups. Memberships that are not
 * renewed within the answer time are removed. A port that does not support ClientReregister keeps
 * its memberships.
 */
#ifndef SOFTIB_MGMT_SA_PRUNING_H
#define SOFTIB_MGMT_SA_PRUNING_H

#include <stdint.h>
#include "base/time.h"

struct multicast_member;
struct sa;

/* A client that waits for a response of the SA sends its request three times. */
#define PRUNING_ANSWER_TIME_MAX SECONDS(30)

void pruning_init(struct sa *sa);
/* The SA has a subnet now: the first period begins, unless it has begun. */
void pruning_start(struct sa *sa, time_ns now);

/* A port requested these states of a membership, possibly for the first time. */
void pruning_confirm(struct multicast_member *member, uint64_t registrar_guid, uint8_t join_state);

void pruning_run(struct sa *sa, time_ns now);
time_ns pruning_deadline(const struct sa *sa);

#endif
