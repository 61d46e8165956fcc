/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that test librdmacm: a check that prints the failure and ends the program.
 */
#ifndef SOFTIB_TESTS_CLIENTS_RDMACM_CLIENT_H
#define SOFTIB_TESTS_CLIENTS_RDMACM_CLIENT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("FAIL line %d: %s (errno %d: %s)\n", __LINE__, #condition, errno,   \
			       strerror(errno));                                                   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
