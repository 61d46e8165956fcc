/* SPDX-License-Identifier: Apache-2.0 */
/* A MAD agent of an open port, as programs register it with softibd. */
#ifndef SOFTIB_IPC_MAD_AGENT_H
#define SOFTIB_IPC_MAD_AGENT_H

#include <stdint.h>
#include "ipc/mad_header.h"

enum { MAD_PORT_AGENTS_MAX = 32 };

enum mad_agent_kind {
	MAD_AGENT_SINGLE, /* single MADs; softibd retransmits requests, reports their timeouts, and
			     drops answers that no request waits for */
	MAD_AGENT_RMPP,	  /* as MAD_AGENT_SINGLE, and softibd segments and reassembles RMPP messages
			   */
	MAD_AGENT_USER_RMPP, /* the program does its own RMPP */
	MAD_AGENT_RAW, /* the program does its own transactions: softibd retransmits nothing and
			  passes on every MAD with the agent's number */
};

struct mad_agent_options {
	uint8_t management_class; /* 0: none, only answers to its own requests */
	uint8_t class_version;
	uint32_t oui;	     /* vendor classes of range 2 */
	uint64_t methods[2]; /* unsolicited methods that the agent gets */
	enum mad_agent_kind kind;
};

struct mad_agent_identity {
	uint32_t id;	 /* within the open port, below MAD_PORT_AGENTS_MAX */
	uint32_t number; /* the upper half of the transaction ids of its requests */
};

#endif
