/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tag matching: a shared receive queue that also has a list of tagged buffers (rdma-core's
 * IBV_SRQT_TM). A message that begins with a tag goes, without its header, to the first buffer
 * whose tag it matches; for a message that announces a rendezvous, the adapter reads the data. A
 * message that matches no tag is unexpected and takes an ordinary receive request. From then on new
 * tags wait until the consumer has reported that it has seen all unexpected messages: one of them
 * may be the message that the new tag is for.
 */
#ifndef SOFTIB_NET_HCA_TAG_MATCHING_H
#define SOFTIB_NET_HCA_TAG_MATCHING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/work_request.h"
#include "wire/tag_header.h"

struct cq;
struct packet;
struct qp;
struct qp_object;
struct srq;

enum {
	TAGS_MAX = 4096, /* per queue */
	TAG_OPERATIONS_MAX = 4096,
	TAG_SGES_MAX = 1,
	TAG_RENDEZVOUS_BYTES_MAX = 64, /* of the message that announces a rendezvous */
	/* Additional send slots of a queue pair on such a queue, for its rendezvous. */
	TAG_SEND_REQUESTS = 64,
};

enum tag_state {
	TAG_FREE,
	TAG_HELD,    /* not matched before the next synchronisation */
	TAG_MATCHED, /* taken by a message that announces a rendezvous */
	TAG_READING, /* the adapter reads the data */
	TAG_POSTED,
};

struct tag_entry {
	struct list link;
	uint64_t tag;
	uint64_t mask;
	uint64_t wr_id; /* of the completions for the message */
	struct sge sge;
	uint32_t sge_count;
	uint32_t reader_qpn;
	uint16_t generation; /* makes stale handles invalid */
	uint8_t state;	     /* enum tag_state */
};

struct tag_list {
	uint32_t tags_max;
	uint32_t unexpected_count;
	uint32_t reported_count; /* unexpected messages that the consumer has seen */
	struct list free;
	struct list posted; /* in the order in which they were added */
	struct list held;
	struct tag_entry entries[];
};

/* The buffer that the message in progress on a queue pair uses. */
struct tag_choice {
	struct tag_entry *entry; /* NULL: an ordinary receive request */
	struct tag_header header;
	struct rendezvous_header rendezvous;
};

enum tag_operation_kind { TAG_ADD, TAG_DELETE, TAG_SYNC };

struct tag_operation {
	enum tag_operation_kind kind;
	uint64_t wr_id;
	bool is_signaled;
	bool reports_unexpected; /* unexpected_count is valid; always with TAG_SYNC */
	uint32_t unexpected_count;
	uint32_t handle; /* TAG_DELETE */
	/* TAG_ADD: */
	uint64_t tag;
	uint64_t mask;
	uint64_t receive_wr_id;
	uint32_t sge_count;
	struct sge sge;
};

/* Makes a new queue match tags; its completions go to that CQ. */
MUST_USE int srq_match_tags(struct srq *srq, uint32_t tags_max, struct cq *cq);
void srq_stop_matching(struct srq *srq);
/* -EINVAL, -ENOMEM: no room for another tag. Only TAG_ADD gives a handle. */
MUST_USE int srq_post_tag(struct srq *srq, time_ns now, const struct tag_operation *operation,
			  uint32_t *ret_handle);

/* The functions of qp_environment for queue pairs on such a queue. */
bool tag_matching_choose(struct qp *qp, const struct packet *packet, uint32_t *ret_header_bytes);
void tag_matching_take(struct qp_object *object);
bool tag_matching_complete(struct qp_object *object, const struct completion *completion);
bool tag_matching_read_done(struct qp *qp, time_ns now, uint64_t wr_id,
			    enum completion_status status);
/* The queue pair was destroyed or reset: frees the buffers that it was reading into. */
void tag_matching_forget(struct qp_object *object);

#endif
