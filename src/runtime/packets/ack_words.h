/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACKs that go as words beside a direct ring (base/word_ring.h): an ACK that says no more than how
 * far it goes is a number, QPN and PSN.
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

/* Sends the ACK that the queue pair owes. Returns the channel that it went by, whose consumer the
 * caller wakes; NULL: it is more than a word, or there is none. */
struct channel *ack_word_send(struct adapter *adapter, struct qp *qp);
/* The same, and whoever sleeps is woken by publish_all. */
bool ack_word_write(struct adapter *adapter, struct qp *qp);
/* As ack_word_send for one that has just received by fast_receive_expected, in a round of the lane;
 * NULL also if its way there is to be looked up. */
struct channel *ack_word_answer(const struct process_runtime *runtime, struct qp *qp);

/* Takes those that have come by a channel. Returns whether there were any. */
bool ack_words_take(struct process_runtime *runtime, struct channel *channel, time_ns now);

#endif
