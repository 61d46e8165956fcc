/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target is: one function that takes any bytes and traps when something that must hold
 * does not. */
#ifndef SOFTIB_TESTS_FUZZ_FUZZ_H
#define SOFTIB_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's name for it; seeded_inputs.c calls it too. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

#define MUST_HOLD(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
