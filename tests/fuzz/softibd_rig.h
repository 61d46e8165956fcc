/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A softibd in the fuzz target's own process, on a virtual clock, with clients at its sockets.
 *
 * The linker puts the rig's clock in place of event_loop_clock() (--wrap, tests/fuzz/meson.build),
 * so that softibd's time does not depend on the machine's.
 */
#ifndef SOFTIB_TESTS_FUZZ_SOFTIBD_RIG_H
#define SOFTIB_TESTS_FUZZ_SOFTIBD_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include "daemon/daemon.h"
#include "ipc/control_socket.h"

/* A new fabric: the hosts h1 and h2 and a controller on one switch, ports Active. */
struct daemon *rig_start(void);
/* All clients must have gone. Traps if softibd keeps anything for one of them. */
void rig_stop(void);

/* Rounds of softibd, each 1 ms after the one before. */
void rig_step(unsigned count);
void rig_pass(time_ns duration);

/* The socket of a client that is connected, or negative. */
int rig_connect(bool is_operator);
/* Sends without waiting. Returns whether softibd took it. */
bool rig_send(int socket, const char *text, const int *descriptors, unsigned descriptor_count);
/* The next reply that has come, if any; the caller releases it. */
bool rig_receive(int socket, struct control_message *ret_message);

#endif
