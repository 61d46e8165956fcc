/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a message to a tag-matching queue. They are not part of the specification;
 * rdma-core's tm_types.h defines them. */
#ifndef SOFTIB_WIRE_TAG_HEADER_H
#define SOFTIB_WIRE_TAG_HEADER_H

#include <stdint.h>
#include <string.h>
#include "base/bytes.h"

enum { TAG_HEADER_BYTES = 16, RENDEZVOUS_HEADER_BYTES = 16 };

enum tag_message { TAG_MESSAGE_NONE = 0, TAG_RENDEZVOUS = 1, TAG_FINISHED = 2, TAG_EAGER = 3 };

struct tag_header {
	uint8_t message;  /* enum tag_message, or any value that a peer writes */
	uint32_t context; /* the sender's, copied as it is in memory */
	uint64_t tag;
};

/* Where the receiver reads the data of a rendezvous; follows the tag header. */
struct rendezvous_header {
	uint64_t address;
	uint32_t rkey;
	uint32_t byte_count;
};

static inline void tag_header_encode(const struct tag_header *header,
				     uint8_t ret_bytes[static TAG_HEADER_BYTES])
{
	memset(ret_bytes, 0, TAG_HEADER_BYTES);
	ret_bytes[0] = header->message;
	memcpy(ret_bytes + 4, &header->context, sizeof(header->context));
	put_be64(ret_bytes + 8, header->tag);
}

static inline struct tag_header tag_header_decode(const uint8_t bytes[static TAG_HEADER_BYTES])
{
	struct tag_header header = {.message = bytes[0], .tag = get_be64(bytes + 8)};

	memcpy(&header.context, bytes + 4, sizeof(header.context));
	return header;
}

static inline struct rendezvous_header
rendezvous_header_decode(const uint8_t bytes[static RENDEZVOUS_HEADER_BYTES])
{
	return (struct rendezvous_header){
		.address = get_be64(bytes),
		.rkey = get_be32(bytes + 8),
		.byte_count = get_be32(bytes + 12),
	};
}

#endif
