/* SPDX-License-Identifier: Apache-2.0 */
/* One RMPP transfer of a QP, sent or received. Only mgmt/mad/rmpp_engine.c uses it. */
#ifndef SOFTIB_MGMT_MAD_RMPP_TRANSFER_H
#define SOFTIB_MGMT_MAD_RMPP_TRANSFER_H

#include "mgmt/mad/rmpp_engine.h"

enum rmpp_direction { RMPP_SENDS, RMPP_RECEIVES };

struct rmpp_transfer {
	struct list in_bucket;
	struct list
		in_queue; /* of the ready or the ended transfers; none: neither ready nor ended */
	struct list in_kept;
	struct timer timer;
	time_ns keep_until; /* when the transfer is done */
	enum rmpp_direction direction;
	struct mad_address address;
	uint64_t transaction_id;
	uint8_t management_class;
	uint8_t class_version;
	uint8_t method; /* of the DATA */
	struct mad_purpose purpose;
	bool is_told;	/* of a sender: the owner has taken the result */
	uint8_t *bytes; /* of a sender */
	union {
		struct rmpp_sender sender;
		struct rmpp_receiver receiver;
	};
};

/* A transfer for the message that begins with this MAD. If there are too many, it replaces the
 * oldest finished one. NULL: no memory, or too many transfers under way. */
struct rmpp_transfer *rmpp_transfer_new(struct rmpp *rmpp, enum rmpp_direction direction,
					const struct mad_address *address, const uint8_t *mad);
void rmpp_transfer_free(struct rmpp *rmpp, struct rmpp_transfer *transfer);

/* The transfer whose DATA have this method and whose other header fields match the MAD. NULL: none.
 */
struct rmpp_transfer *rmpp_transfer_find(struct rmpp *rmpp, enum rmpp_direction direction,
					 const struct mad_address *address, const uint8_t *mad,
					 uint8_t method);

/* The transfer is done. It stays to answer retransmissions of the peer's last segments or ACKs. */
void rmpp_transfer_keep(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now);

/* Call it after each event at a sender. The result waits until the owner takes it, even if the
 * transfer still has something to send. */
void rmpp_transfer_settle(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now);

/* Puts the transfer into the queue or arms the timer that handles it next. */
void rmpp_transfer_schedule(struct rmpp *rmpp, struct rmpp_transfer *transfer);

#endif
