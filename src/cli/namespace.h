/* SPDX-License-Identifier: Apache-2.0 */
/* A private mount namespace with the drop-in libraries and the host's files mounted over the real
 * ones. */
#ifndef SOFTIB_CLI_NAMESPACE_H
#define SOFTIB_CLI_NAMESPACE_H

#include "base/attributes.h"

/* Enters the namespace. tree: the host's files; libraries: the folder of the drop-in libraries.
 * Prints the error and returns -errno. */
MUST_USE int namespace_enter(const char *tree, const char *libraries);

#endif
