/* SPDX-License-Identifier: Apache-2.0 */
/* How long answers to MADs take, learnt from those that came. */
#ifndef SOFTIB_MGMT_MAD_ANSWER_TIME_H
#define SOFTIB_MGMT_MAD_ANSWER_TIME_H

#include "base/time.h"

struct answer_time {
	time_ns mean; /* smoothed; 0: none has come */
	time_ns deviation;
};

/* A request was answered after so long. */
void answer_time_learn(struct answer_time *answer_time, time_ns taken);
/* When nearly every answer would have come; 0: nobody knows. */
time_ns answer_time_bound(const struct answer_time *answer_time);

#endif
