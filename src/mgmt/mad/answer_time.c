/* SPDX-License-Identifier: Apache-2.0 */
/* Response times: smoothed mean and deviation, computed as TCP does for its round-trip time. */
#include "mgmt/mad/answer_time.h"

void answer_time_learn(struct answer_time *answer_time, time_ns taken)
{
	time_ns *mean = &answer_time->mean, *deviation = &answer_time->deviation;
	time_ns distance = taken > *mean ? taken - *mean : *mean - taken;

	if (*mean == 0) {
		*mean = taken ? taken : 1;
		*deviation = taken / 2;
		return;
	}
	*deviation = *deviation - *deviation / 4 + distance / 4;
	*mean = *mean - *mean / 8 + taken / 8;
	if (*mean == 0)
		*mean = 1;
}

time_ns answer_time_bound(const struct answer_time *answer_time)
{
	enum { DEVIATIONS = 4 };

	return answer_time->mean ? answer_time->mean + DEVIATIONS * answer_time->deviation : 0;
}
