/* SPDX-License-Identifier: Apache-2.0 */
/* Large pages for programs whose memory is far larger than the TLBs cover. */
#ifndef SOFTIB_LAUNCH_LARGE_PAGES_H
#define SOFTIB_LAUNCH_LARGE_PAGES_H

/* From now on malloc's memory lies on large pages, as far as the system has them. Only speed
 * depends on it; memory that is never touched is never allocated. */
void large_pages_for_heap(void);

#endif
