/* SPDX-License-Identifier: Apache-2.0 */
/* The helper thread: does the program's work when the program does not poll. */
#ifndef SOFTIB_HOST_HELPER_H
#define SOFTIB_HOST_HELPER_H

#include "base/attributes.h"

struct attachment;

MUST_USE int helper_start(struct attachment *attachment);

#endif
