/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that changes shared memory between two reads of it: see shared_reads.h. */
#include "fuzz/shared_reads.h"

#include <stdbool.h>

/* Only the thread of the fuzz target: the program's progress thread reads, too. */
static _Thread_local bool is_begun;
static unsigned reads, write_count;
static struct shared_write writes[SHARED_WRITES_MAX];

void shared_reads_begin(void)
{
	reads = 0;
	is_begun = true;
}

void shared_reads_add(const struct shared_write *write)
{
	if (write_count < SHARED_WRITES_MAX)
		writes[write_count++] = *write;
}

void shared_reads_end(void)
{
	is_begun = false;
	write_count = 0;
}

void shared_read(void)
{
	if (!is_begun)
		return;
	for (unsigned i = 0; i < write_count; i++)
		if (writes[i].read == reads)
			*writes[i].place = writes[i].value;
	reads++;
}
