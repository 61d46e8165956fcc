/* SPDX-License-Identifier: Apache-2.0 */
/* Large pages for programs whose memory is far larger than what a processor's page caches cover. */
#ifndef SOFTIB_LAUNCH_LARGE_PAGES_H
#define SOFTIB_LAUNCH_LARGE_PAGES_H

/* What malloc hands out from now on lies on large pages, as far as the system has them to give.
 * Nothing but speed depends on it; memory that is never touched is never taken. */
void large_pages_for_heap(void);

#endif
