/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to softibd by its operator's socket, from the conductor. */
#ifndef SOFTIB_TESTS_SCHEDULE_OPERATOR_H
#define SOFTIB_TESTS_SCHEDULE_OPERATOR_H

/* A connection; -1: softibd has ended. */
int operator_connect(unsigned softibd);
/* Sends a command and waits for its answer. The run fails if softibd refuses it. */
void operator_ask(unsigned softibd, int connection, const char *command);
/* The same on a connection of its own. */
void operator_order(unsigned softibd, const char *command);

#endif
