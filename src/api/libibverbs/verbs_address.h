/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between ibv_ah_attr and struct address_vector. */
#ifndef SOFTIB_API_LIBIBVERBS_VERBS_ADDRESS_H
#define SOFTIB_API_LIBIBVERBS_VERBS_ADDRESS_H

#include <infiniband/verbs.h>
#include "net/transport/address.h"

struct address_vector address_from_attr(const struct ibv_ah_attr *attr);
struct ibv_ah_attr address_to_attr(const struct address_vector *vector);

#endif
