/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Management attributes from field tables. A table lists FIELD(type, name, bit offset, bits) in the
 * order of the specification; from it come the struct, the encoder, the decoder and the printers.
 *
 *	#define SM_INFO_FIELDS(FIELD) FIELD(uint64_t, guid, 0, 64) FIELD(...) ...
 *	ATTRIBUTE_STRUCT(sm_info, SM_INFO_FIELDS)           in the header
 *
 *	#define ATTRIBUTE_SUBJECT struct sm_info            in the source file
 *	ATTRIBUTE_DEFINE(sm_info, SM_INFO_FIELDS, 24)
 *	#undef ATTRIBUTE_SUBJECT
 *
 * A field's type is one of uint8_t to uint64_t and wide enough for its bits. The subject is a macro
 * because a row does not know to which table it belongs.
 */
#ifndef SOFTIB_WIRE_ATTRIBUTE_H
#define SOFTIB_WIRE_ATTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

struct attribute_field {
	const char *name;
	uint16_t struct_offset;
	uint8_t struct_bytes; /* 1, 2, 4 or 8 */
	uint16_t bit_offset;  /* bit 0 is the most significant bit of byte 0 */
	uint8_t bit_count;    /* 1 .. 64 */
};

struct attribute_layout {
	const char *name;
	const struct attribute_field *fields;
	size_t field_count;
	size_t byte_count;
};

/* Bits that no field covers are written as zero. */
void attribute_encode(const struct attribute_layout *layout, const void *attribute,
		      uint8_t *ret_bytes);
void attribute_decode(const struct attribute_layout *layout, const uint8_t *bytes,
		      void *ret_attribute);

uint64_t attribute_field_value(const struct attribute_field *field, const void *attribute);

/* Truncates the value to the width of the struct's member. */
void attribute_field_set(const struct attribute_field *field, uint64_t value, void *ret_attribute);

#define ATTRIBUTE_MEMBER(type, name, offset, bits) type name;

#define ATTRIBUTE_STRUCT(attribute, FIELDS)                                                        \
	struct attribute {                                                                         \
		FIELDS(ATTRIBUTE_MEMBER)                                                           \
	};                                                                                         \
	extern const struct attribute_layout attribute##_layout;                                   \
	static inline void attribute##_encode(const struct attribute *value, uint8_t *ret_bytes)   \
	{                                                                                          \
		attribute_encode(&attribute##_layout, value, ret_bytes);                           \
	}                                                                                          \
	static inline void attribute##_decode(const uint8_t *bytes, struct attribute *ret_value)   \
	{                                                                                          \
		attribute_decode(&attribute##_layout, bytes, ret_value);                           \
	}

/* One row of a layout, for the attribute that ATTRIBUTE_SUBJECT names at the place of expansion. */
#define ATTRIBUTE_ROW(type, field, offset, bits)                                                   \
	{.name = #field,                                                                           \
	 .struct_offset = offsetof(ATTRIBUTE_SUBJECT, field),                                      \
	 .struct_bytes = sizeof(type),                                                             \
	 .bit_offset = (offset),                                                                   \
	 .bit_count = (bits)},

#define ATTRIBUTE_DEFINE(attribute, FIELDS, bytes)                                                 \
	static const struct attribute_field attribute##_fields[] = {FIELDS(ATTRIBUTE_ROW)};        \
	const struct attribute_layout attribute##_layout = {                                       \
		.name = #attribute,                                                                \
		.fields = attribute##_fields,                                                      \
		.field_count = sizeof(attribute##_fields) / sizeof(attribute##_fields[0]),         \
		.byte_count = (bytes),                                                             \
	};

#endif
