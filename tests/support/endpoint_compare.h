/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two endpoints that got the same messages by different paths. */
#ifndef SOFTIB_TESTS_SUPPORT_ENDPOINT_COMPARE_H
#define SOFTIB_TESTS_SUPPORT_ENDPOINT_COMPARE_H

#include "support/endpoint.h"

/* Completions, events and state; not memory. */
void endpoint_compare(const struct endpoint *a, const struct endpoint *b);

#endif
