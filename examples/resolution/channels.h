/* SPDX-License-Identifier: Apache-2.0 */
/* Channels to a controller through librdmacm: a connection, or a datagram service that SIDR finds,
 * and one exchange over it. */
#ifndef SOFTIB_EXAMPLES_RESOLUTION_CHANNELS_H
#define SOFTIB_EXAMPLES_RESOLUTION_CHANNELS_H

#include "queries.h"

/* Both print their steps, or the error and return false. */

/* A connection to an SRP target: login, then TEST UNIT READY. */
bool exchange_by_connection(const struct ibv_path_record *path, const struct io_service *service,
			    const struct io_profile *profile);
/* A console of softib: one line, and its answer. */
bool exchange_by_datagrams(const struct ibv_path_record *path, const struct io_service *service);

#endif
