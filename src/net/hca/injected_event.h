/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events that happen because somebody wants to see what a program makes of them. */
#ifndef SOFTIB_NET_HCA_INJECTED_EVENT_H
#define SOFTIB_NET_HCA_INJECTED_EVENT_H

#include "base/time.h"
#include "net/hca/hca.h"

/* At everything of this adapter that the event can be about: its ports, queue pairs, completion
 * queues or shared queues (those that queue pairs use). What an error means for the object happens,
 * too: a queue pair is in Error, a completion queue takes no more, an adapter is dead. */
void hca_inject_event(struct hca *hca, time_ns now, enum hca_event_type type);

/* A queue pair goes to Error, as with a completion that says so. */
void hca_break_qp(struct hca *hca, time_ns now, uint32_t qpn);

#endif
