/* SPDX-License-Identifier: Apache-2.0 */
/* Data buffer descriptors (T10 SRP r16a, 5.4). */
#include "io/srp/data_buffers.h"

#include "base/bytes.h"

/* The rest of an information unit. */
struct rest {
	const uint8_t *bytes;
	size_t byte_count;
};

void srp_segment_encode(const struct srp_segment *segment,
			uint8_t ret_bytes[static SRP_DESCRIPTOR_BYTES])
{
	put_be64(ret_bytes, segment->address);
	put_be32(ret_bytes + 8, segment->rkey);
	put_be32(ret_bytes + 12, segment->byte_count);
}

void srp_segment_decode(const uint8_t bytes[static SRP_DESCRIPTOR_BYTES],
			struct srp_segment *ret_segment)
{
	ret_segment->address = get_be64(bytes);
	ret_segment->rkey = get_be32(bytes + 8);
	ret_segment->byte_count = get_be32(bytes + 12);
}

static const uint8_t *take(struct rest *rest, size_t byte_count)
{
	const uint8_t *bytes = rest->bytes;

	if (rest->byte_count < byte_count)
		return NULL;
	rest->bytes += byte_count;
	rest->byte_count -= byte_count;
	return bytes;
}

static enum srp_buffer_verdict decode_table(struct rest *rest, uint8_t descriptor_count,
					    struct srp_data_buffer *ret_buffer)
{
	const uint8_t *header = take(rest, SRP_TABLE_HEADER_BYTES);
	uint64_t total = 0;

	if (!header)
		return SRP_BUFFERS_CUT;

	struct srp_segment table;

	srp_segment_decode(header, &table);
	if (table.byte_count % SRP_DESCRIPTOR_BYTES)
		return SRP_BUFFERS_LENGTHS_DIFFER;
	if (table.byte_count / SRP_DESCRIPTOR_BYTES > SRP_SEGMENTS_MAX)
		return SRP_BUFFERS_TABLE_TOO_LONG;
	if (table.byte_count / SRP_DESCRIPTOR_BYTES != descriptor_count)
		return SRP_BUFFERS_TABLE_ELSEWHERE;
	for (uint32_t index = 0; index < descriptor_count; index++) {
		const uint8_t *bytes = take(rest, SRP_DESCRIPTOR_BYTES);

		if (!bytes)
			return SRP_BUFFERS_CUT;
		srp_segment_decode(bytes, &ret_buffer->segments[index]);
		total += ret_buffer->segments[index].byte_count;
	}
	ret_buffer->segment_count = descriptor_count;
	ret_buffer->byte_count = get_be32(header + SRP_DESCRIPTOR_BYTES);
	return total == ret_buffer->byte_count ? SRP_BUFFERS_GOOD : SRP_BUFFERS_LENGTHS_DIFFER;
}

static enum srp_buffer_verdict decode_one(uint8_t format, uint8_t descriptor_count,
					  struct rest *rest, struct srp_data_buffer *ret_buffer)
{
	const uint8_t *bytes;

	ret_buffer->byte_count = 0;
	ret_buffer->segment_count = 0;
	switch (format) {
	case SRP_BUFFER_NONE:
		return SRP_BUFFERS_GOOD;
	case SRP_BUFFER_DIRECT:
		bytes = take(rest, SRP_DESCRIPTOR_BYTES);
		if (!bytes)
			return SRP_BUFFERS_CUT;
		srp_segment_decode(bytes, &ret_buffer->segments[0]);
		ret_buffer->segment_count = 1;
		ret_buffer->byte_count = ret_buffer->segments[0].byte_count;
		return SRP_BUFFERS_GOOD;
	case SRP_BUFFER_INDIRECT:
		return decode_table(rest, descriptor_count, ret_buffer);
	default:
		return SRP_BUFFERS_FORMAT_UNKNOWN;
	}
}

enum srp_buffer_verdict srp_data_buffers_decode(const struct srp_cmd *cmd, const uint8_t *iu,
						size_t iu_bytes, struct srp_data_buffer *ret_out,
						struct srp_data_buffer *ret_in)
{
	size_t cdb_end = SRP_CMD_BYTES + (size_t)cmd->additional_cdb_words * 4;
	struct rest rest = {.bytes = iu, .byte_count = iu_bytes};

	if (!take(&rest, cdb_end))
		return SRP_BUFFERS_CUT;

	enum srp_buffer_verdict verdict =
		decode_one(cmd->out_format, cmd->out_descriptor_count, &rest, ret_out);

	if (verdict == SRP_BUFFERS_GOOD)
		verdict = decode_one(cmd->in_format, cmd->in_descriptor_count, &rest, ret_in);
	if (verdict == SRP_BUFFERS_GOOD && ret_out->byte_count && ret_in->byte_count)
		verdict = SRP_BUFFERS_BOTH_WAYS;
	return verdict;
}

const char *srp_buffer_verdict_text(enum srp_buffer_verdict verdict)
{
	switch (verdict) {
	case SRP_BUFFERS_GOOD:
		return "good";
	case SRP_BUFFERS_FORMAT_UNKNOWN:
		return "unknown format of data buffer descriptors";
	case SRP_BUFFERS_CUT:
		return "data buffer descriptors longer than the information unit";
	case SRP_BUFFERS_TABLE_ELSEWHERE:
		return "indirect table that is not in the information unit";
	case SRP_BUFFERS_TABLE_TOO_LONG:
		return "indirect table with too many descriptors";
	case SRP_BUFFERS_LENGTHS_DIFFER:
		return "indirect table whose lengths do not add up";
	case SRP_BUFFERS_BOTH_WAYS:
		return "data in and data out in one command";
	}
	return "?";
}
