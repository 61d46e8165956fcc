/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: one function that takes any bytes and traps when an invariant is violated. */
#ifndef SOFTIB_TESTS_FUZZ_FUZZ_H
#define SOFTIB_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The name that libFuzzer expects; seeded_inputs.c calls it too. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

#define MUST_HOLD(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
