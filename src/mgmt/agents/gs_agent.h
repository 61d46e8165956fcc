/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the general service agents, which gs_agents.c calls: a request, and the
 * handler of each attribute of each class. */
#ifndef SOFTIB_MGMT_AGENTS_GS_AGENT_H
#define SOFTIB_MGMT_AGENTS_GS_AGENT_H

#include "mgmt/agents/agents.h"
#include "net/node/node.h"
#include "wire/class_port_info.h"
#include "wire/mad.h"

enum { GS_DATA_BYTES_MAX = MAD_BYTES - MAD_HEADER_BYTES };

struct gs_request {
	const struct agent_environment *environment;
	struct node *node;
	struct port *arrival; /* port 0 at a switch */
	time_ns now;
	struct mad_header header;
	const struct mad_message *message;
	const uint8_t *data; /* from where the class's data begin to the end of the MAD */
};

/* Writes the attribute's value after the request; ret_data is zeroed before. A status other than
 * MAD_STATUS_OK means that nothing was changed. */
typedef enum mad_status gs_handler(const struct gs_request *request, uint8_t *ret_data);

struct gs_attribute {
	uint16_t id;
	gs_handler *get; /* NULL: the attribute has no such method */
	gs_handler *set;
};

struct gs_attributes {
	const struct gs_attribute *rows;
	size_t count;
};

extern const struct gs_attributes pma_attributes;
extern const struct gs_attributes baseboard_attributes;
extern const struct gs_attributes device_attributes;
extern const struct gs_attributes communication_attributes;
extern const struct gs_attributes snmp_attributes;
extern const struct gs_attributes congestion_attributes;
extern const struct gs_attributes vendor_attributes;

/* The B_Key check. A violation raises trap 259 and gets no response (management 6.2). */
MUST_USE bool baseboard_key_admits(const struct gs_request *request);
/* Answers a Send of baseboard management with another Send (management 6.2). */
enum agent_verdict baseboard_send(const struct gs_request *request, struct mad_message *ret_answer);

/* Passes a message of SNMP tunnelling to the owner of the fabric; answers and notifications are for
 * a manager on the port (management 6.4). */
enum agent_verdict snmp_send(const struct gs_request *request, struct mad_message *ret_answer);

/* The counter of the port that PortCountersExtended shows at this offset of its struct. NULL: none.
 */
uint64_t *pma_counter(struct port *port, uint16_t extended_offset);

/* Counters of lanes, opcodes, congestion and extended speeds (pma_details.c). */
gs_handler pma_op_rcv, pma_vl_op_packets, pma_vl_op_data, pma_vl_update_errors, pma_vl_xmit_wait;
gs_handler pma_extended_speeds, pma_vl_congestion, pma_rcv_con_ctrl, pma_sl_rcv_fecn;
gs_handler pma_sl_rcv_becn, pma_xmit_con_ctrl, pma_vl_xmit_time_cong;

/* Samples of one port of a node, over an interval that the requester chose (management 6.1). */
gs_handler pma_samples_control_get, pma_samples_control_set;
gs_handler pma_samples_result_get, pma_samples_result_extended_get;
/* Reads the counters when a sample begins or ends. */
void pma_samples_run(const struct agent_environment *environment, time_ns now);
void pma_samples_forget(struct agent_memory *memory, const struct node *node);

#endif
