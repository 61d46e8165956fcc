/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events that are raised on purpose, to test how a program handles them. */
#ifndef SOFTIB_NET_HCA_INJECTED_EVENT_H
#define SOFTIB_NET_HCA_INJECTED_EVENT_H

#include "base/time.h"
#include "net/hca/hca.h"

/* Raises the event for every object of this adapter that it can be about: ports, queue pairs,
 * completion queues or shared receive queues (those that queue pairs use). An error event also has
 * its effect: a queue pair goes to Error, a completion queue takes no more completions, an adapter
 * is dead. */
void hca_inject_event(struct hca *hca, time_ns now, enum hca_event_type type);

/* Moves a queue pair to Error, as a completion with an error does. */
void hca_break_qp(struct hca *hca, time_ns now, uint32_t qpn);

#endif
