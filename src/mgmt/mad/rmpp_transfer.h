/* SPDX-License-Identifier: Apache-2.0 */
/* One RMPP transfer, sent or received, among those of its QP: between the files of
 * mgmt/mad/rmpp_engine.
 */
#ifndef SOFTIB_MGMT_MAD_RMPP_TRANSFER_H
#define SOFTIB_MGMT_MAD_RMPP_TRANSFER_H

#include "mgmt/mad/rmpp_engine.h"

enum rmpp_direction { RMPP_SENDS, RMPP_RECEIVES };

struct rmpp_transfer {
	struct list in_bucket;
	struct list in_queue; /* ready, or ended; an ended one may also be ready no more */
	struct list in_kept;
	struct timer timer;
	time_ns keep_until; /* once it is done */
	enum rmpp_direction direction;
	struct mad_address address;
	uint64_t transaction_id;
	uint8_t management_class;
	uint8_t class_version;
	uint8_t method; /* of its DATA */
	struct mad_purpose purpose;
	bool is_told;	/* of a sender: its result */
	uint8_t *bytes; /* of a sender */
	union {
		struct rmpp_sender sender;
		struct rmpp_receiver receiver;
	};
};

/* For the message whose MAD begins so. NULL: no memory, or too many; one that is only kept for
 * repetitions has made way. */
struct rmpp_transfer *rmpp_transfer_new(struct rmpp *rmpp, enum rmpp_direction direction,
					const struct mad_address *address, const uint8_t *mad);
void rmpp_transfer_free(struct rmpp *rmpp, struct rmpp_transfer *transfer);

/* The transfer whose DATA have this method and otherwise the header of the MAD; NULL: none. */
struct rmpp_transfer *rmpp_transfer_find(struct rmpp *rmpp, enum rmpp_direction direction,
					 const struct mad_address *address, const uint8_t *mad,
					 uint8_t method);

/* It is done, but its last segments or acknowledgements may be asked for once more. */
void rmpp_transfer_keep(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now);

/* After anything that happened to a sender. A result waits until it is told, whatever else the
 * transfer still has to send. */
void rmpp_transfer_settle(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now);

/* Puts the transfer where it is looked for next. */
void rmpp_transfer_schedule(struct rmpp *rmpp, struct rmpp_transfer *transfer);

#endif
