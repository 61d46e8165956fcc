/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACKs as words beside a direct ring (base/word_ring.h): an ACK that carries nothing but its PSN is
 * a number made of QPN and PSN.
 */
#ifndef SOFTIB_RUNTIME_PACKETS_ACK_WORDS_H
#define SOFTIB_RUNTIME_PACKETS_ACK_WORDS_H

#include <stdbool.h>
#include "base/time.h"

enum {
	/* A word is PSN << ACK_WORD_QPN_BITS | QPN. */
	ACK_WORD_QPN_BITS = 24,
	ACK_WORD_QPN_MASK = (1 << ACK_WORD_QPN_BITS) - 1,
};

struct adapter;
struct process_runtime;
struct channel;
struct qp;

/* Sends the ACK that the queue pair owes. Returns the channel that it took, whose consumer the
 * caller wakes; NULL: the response needs more than a word, or its flow is not offloaded. */
struct channel *ack_word_send(struct adapter *adapter, struct qp *qp);
/* ack_word_send; publish_all wakes the consumer later. */
bool ack_word_write(struct adapter *adapter, struct qp *qp);

/* Takes the ACK words of a channel. Returns whether there were any. */
bool ack_words_take(struct process_runtime *runtime, struct channel *channel, time_ns now);

#endif
