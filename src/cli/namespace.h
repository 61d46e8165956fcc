/* SPDX-License-Identifier: Apache-2.0 */
/* A private mount namespace in which the drop-in libraries and the host's files lie where the real
 * ones would. */
#ifndef SOFTIB_CLI_NAMESPACE_H
#define SOFTIB_CLI_NAMESPACE_H

#include "base/attributes.h"

/* Enters it; the tree is the host's, the libraries are in libraries. Prints why it can't. */
MUST_USE int namespace_enter(const char *tree, const char *libraries);

#endif
