/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store buffer of a thread, as x86 processors have one: stores reach memory later, in their
 * order, and only the thread itself sees them before.
 *
 * While the thread runs its stores lie in memory, and the buffer remembers what was there before.
 * When the thread gives the turn away, the stores that have not been drained are taken back out of
 * memory, the youngest first; when it gets the turn again, they are put in again. In between other
 * threads see memory without them.
 */
#ifndef SOFTIB_TESTS_SCHEDULE_STORE_BUFFER_H
#define SOFTIB_TESTS_SCHEDULE_STORE_BUFFER_H

#include <stddef.h>

/* Just before the calling thread stores there. */
void store_buffer_add(void *address, size_t byte_count);
/* The oldest stores become visible, so that at most count remain. */
void store_buffer_keep(unsigned count);
unsigned store_buffer_count(void);
void store_buffer_put_aside(void);
void store_buffer_take_up(void);

#endif
