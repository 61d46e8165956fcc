/* SPDX-License-Identifier: Apache-2.0 */
/* How long responses to MADs take, learned from the responses that came. */
#ifndef SOFTIB_MGMT_MAD_ANSWER_TIME_H
#define SOFTIB_MGMT_MAD_ANSWER_TIME_H

#include "base/time.h"

struct answer_time {
	time_ns mean; /* smoothed; 0: no response came yet */
	time_ns deviation;
};

/* A request was answered after this time. */
void answer_time_learn(struct answer_time *answer_time, time_ns taken);
/* Nearly every response comes within this time. 0: no response came yet. */
time_ns answer_time_bound(const struct answer_time *answer_time);

#endif
