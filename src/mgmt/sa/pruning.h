/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast pruning (vol 1, chapter 15): the SA verifies from time to time that members still take
 * part, and takes those out of their groups that do not.
 *
 * The only question that an endnode has to answer is ClientReregister: whoever takes part joins
 * again. So in each period every port through which somebody joined is asked; what was not joined
 * again within the time for answers is left. A port that can't be asked keeps its memberships.
 */
#ifndef SOFTIB_MGMT_SA_PRUNING_H
#define SOFTIB_MGMT_SA_PRUNING_H

#include <stdint.h>
#include "base/time.h"

struct multicast_member;
struct sa;

/* A client that waits for an answer of the SA sends its request three times. */
#define PRUNING_ANSWER_TIME_MAX SECONDS(30)

void pruning_init(struct sa *sa);
/* There is a subnet now: the first period begins, unless one has begun. */
void pruning_start(struct sa *sa, time_ns now);

/* A port asked for these states of a membership, be it for the first time. */
void pruning_confirm(struct multicast_member *member, uint64_t registrar_guid, uint8_t join_state);

void pruning_run(struct sa *sa, time_ns now);
time_ns pruning_deadline(const struct sa *sa);

#endif
