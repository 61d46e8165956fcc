/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between programs and softibd.
 *
 * Control socket: SOCK_SEQPACKET, one JSON object per message, at most CONTROL_MESSAGE_BYTES. The
 * program asks; softibd answers {"ok":true,...} or {"ok":false,"error":"text","errno":N}.
 * Descriptors travel with the answer, in the order named.
 *
 * {"command":"hello","version":PROTOCOL_VERSION,"host":"h1","pid":N,"kind":KIND}
 *     KIND: "program", "tool", or "hold": softib run, which only keeps the fabric alive
 *     -> "fabric","host","tree" (a path),
 *        "adapters":[{"name","index","node_guid","system_image_guid","ports"}...]
 * {"command":"attach"}
 *     once per process, before the first adapter is used
 *     -> "ring_bytes"; descriptors: fabric page (read-only), process memfd (up ring, down ring,
 *        flow counters: struct process_layout), own exported rkeys (ipc/rma_area.h), own
 *        doorbell, softibd's doorbell
 * {"command":"port","adapter":I}
 *     -> softibd sends RECORD_PORT_UPDATE for every port of the adapter now and on each change;
 *        "ok" comes after the first ones are in the ring
 * {"command":"qpns","adapter":I,"count":N}
 *     -> "first","count" (blocks of QPN_BLOCK)
 * {"command":"ring","id":N}
 *     -> "outgoing_bytes","incoming_bytes","outgoing","incoming"; descriptors: ring memfd (struct
 *        direct_layout), the peer's doorbell
 * {"command":"exposure","id":N}
 *     -> descriptor: exported rkeys of the peer on that ring, if the peer has exposed them
 * {"command":"refuse","id":N}
 *     the program could not keep the ring -> softibd closes it and offers no more
 * {"command":"domain","adapter":I,"device":"0x..","inode":"0x..","opening":0|1|2}
 *     -> "id" of an XRC domain that processes share by a file (enum xrcd_opening)
 * {"command":"target","adapter":I,"domain":N}
 *     -> "qpn","shared": a new target of the domain; if it is not shared, it stays with this
 *        process until RECORD_TARGET_RECALLED
 * {"command":"target-open","adapter":I,"domain":N,"qpn":N}
 * {"command":"target-borrow","adapter":I,"domain":N,"qpn":N,"now":bool}
 *     -> the leased target is in the down ring; EAGAIN: another process still has it
 * {"command":"catch-up"}
 *     -> softibd has read the up ring
 * {"command":"raw","adapter":I,"port":N,"kind":0|1}
 *     -> only this program receives and sends raw packets of that kind (enum raw_kind) on the
 *        port, until RECORD_RAW_RELEASED; EBUSY: a program has that right already
 * {"command":"mads","adapter":"softib0","port":N}
 *     -> descriptor: a socket for the MADs of that port (runtime/mad_port.h)
 * {"command":"mad-register","class","version","oui","kind","methods_low","methods_high"} and
 *     {"command":"mad-unregister","id"} come with that socket: who has it owns the port's agents
 *     -> "id","number" of the agent
 *
 * Of tools: {"command":"hosts"}, {"command":"status"}, {"command":"refresh","host":..},
 * {"command":"link","node":..,"port":..,"up":bool}, {"command":"down"},
 * {"command":"wait-active","timeout_ms":N}; "capture": ipc/capture_ring.h; "fault-add",
 * "fault-list", "fault-clear", "fault-record", "fault-replay": daemon/control/fault_commands.c;
 * "explain": daemon/control/explain_commands.c
 */
#ifndef SOFTIB_IPC_PROTOCOL_H
#define SOFTIB_IPC_PROTOCOL_H

#include <stdint.h>
#include "base/ring.h"
#include "base/word_ring.h"
#include "net/transport/packet_source.h"
#include "net/transport/port_view.h"

enum {
	PROTOCOL_VERSION = 11,
	CONTROL_MESSAGE_BYTES = 1 << 16,
	QPN_BLOCK = 1024,
	PROCESS_RING_BYTES = 1 << 19, /* each of up and down */
	DIRECT_RING_BYTES = 1 << 19,  /* each way */
	FLOW_SLOTS = 1024,
	TRAIN_BYTES_MAX = 1 << 15,
};

/* In-band records of the up and down rings. record->port is (adapter index << 8 | port number). */
enum record_kind {
	RECORD_PACKET = 1,   /* both ways, and on direct rings: packet_encode()d bytes; packet_count
				from the record; up: word = record_packet_word() */
	RECORD_RESOLVE = 2,  /* up: struct resolve_request */
	RECORD_RESOLVED = 3, /* down: struct resolve_answer */
	RECORD_RING_OFFERED = 4,  /* down: record->word = ring id, struct packet_grant; a peer will
				     send such packets on the ring: fetch it with "ring" and read
				     it from now on */
	RECORD_RING_REVOKED = 25, /* down: the same; the peer may not send them any more */
	RECORD_PORT_UPDATE = 5,	  /* down: struct port_update */
	/* XRC targets of domains that processes share: record->word = QPN. */
	RECORD_TARGET_LEASED = 6, /* down: struct xrc_lease, then the state */
	RECORD_TARGET_PACKET = 7, /* down: as RECORD_PACKET, for a leased target */
	RECORD_TARGET_RECALLED =
		8,		 /* down: return the target when it is idle; packet_count 1: now */
	RECORD_TARGET_EVENT = 9, /* down: packet_count = enum qp_event that the target raised */
	RECORD_TARGET_RETURNED = 10, /* up: struct target_return, then the state */
	RECORD_TARGET_CLOSED =
		11,		/* up: no consumer of this process has the target open any more */
	RECORD_VERB_FAULT = 13, /* down: struct verb_fault (ipc/verb_faults.h) */
	RECORD_DOMAIN_CLOSED = 12, /* up: record->word = id of the domain */
	/* About connections: record->word = QPN. */
	RECORD_ALTERNATE_PATH = 16,    /* down: struct alternate_path (ipc/alternate_path.h) */
	RECORD_ALTERNATE_LOADED = 17,  /* up */
	RECORD_ALTERNATE_REFUSED = 18, /* up */
	RECORD_RAW_PACKET = 19,	  /* down: as RECORD_PACKET, for the raw queue pair of the port */
	RECORD_RAW_RELEASED = 20, /*
				   * up: the raw queue pair is gone; record->word = port number << 8
				   *
				   * enum raw_kind
				   */
	RECORD_EXPOSE = 26,  /* up: record->word = ring id; a queue pair is connected to one of the
				peer, which may map this process's exported rkeys from now on */
	RECORD_EXPOSED = 27, /* down: the peer has done so: fetch its rkeys with "exposure" */
	RECORD_RMA_GRANT_REQUEST = 14, /* on direct rings: struct rma_grant_request, then the
					headers of a packet (ipc/rma_area.h) */
	RECORD_ZCOPY = 15, /* on direct rings: as RECORD_PACKET, with a struct zcopy_ticket for the
			       payload (runtime/zcopy/zcopy_send.h) */
	RECORD_UD_ZCOPY = 21, /* on direct rings: a struct ud_zcopy_ticket, then as RECORD_PACKET: a
			     datagram, with room for its payload (runtime/zcopy/ud_zcopy.h) */
	RECORD_TEMPLATE = 23, /* on direct rings: as RECORD_PACKET; payload records may follow
				 (runtime/fast/burst.h) */
	RECORD_KEY_VIOLATION = 24, /* up: struct key_violation */
	RECORD_PIN_ASKED = 22, /* on direct rings: struct pin_ask (runtime/rma/pinned_range.h) */
};

/* What softibd needs besides the packet: the static rate of its address vector (a code of
 * wire/rate.h; 0: as fast as the port) and the queue pair or EE context that sends it. */
static inline uint32_t record_packet_word(uint8_t static_rate, uint32_t qpn)
{
	return qpn << 8 | static_rate;
}

enum { TARGET_STATE_BYTES_MAX = 4096 };

/* softibd keeps the state for the programs and does not interpret it. */
struct xrc_lease {
	uint32_t domain_id;
	uint32_t is_lost; /* the process that had the lease died: no state follows */
};

struct target_return {
	uint32_t taken_count; /* RECORD_TARGET_PACKETs received since the lease began; if fewer than
				 softibd sent, the lease continues */
	uint32_t events; /* bits of enum qp_event, for all processes that have the target open */
};

struct resolve_request {
	uint32_t request_id; /* the program's */
	uint32_t generation; /* generation that the program read */
	uint32_t destination_qpn;
	uint16_t dlid;
	uint16_t pkey;
	uint16_t source_port; /* adapter << 8 | port */
	uint8_t sl;
	uint8_t reserved;
};

enum resolve_verdict {
	RESOLVED_FABRIC,       /* relayed: send by the up ring */
	RESOLVED_FABRIC_RETRY, /* relayed for now; ask again after a while */
	RESOLVED_DIRECT,
};

struct resolve_answer {
	uint32_t request_id;
	uint32_t generation; /* the answer holds while the fabric page shows this generation */
	uint32_t verdict;    /* enum resolve_verdict */
	uint32_t ring_id;
	uint32_t flow_slot; /* index into process_layout.flows, counted by the program */
	uint8_t mtu_code;
	uint8_t reserved;
	uint16_t destination_port; /*
				    * adapter << 8
				    *
				    * port at the destination: record->port on the direct ring
				    */
};

struct port_update {
	uint32_t adapter_index;
	uint32_t client_reregister;
	struct port_view view;
};

/* Packets with a wrong key for queue pairs of the program; record->port says where. */
struct key_violation {
	uint32_t count;
	/* Of the last packet. */
	uint32_t key;
	uint32_t source_qpn; /* 0 without a DETH */
	uint32_t destination_qpn;
	uint16_t slid, dlid;
	uint8_t sl;
	uint8_t is_qkey; /* otherwise P_Key */
	uint8_t has_source_qpn;
	uint8_t has_grh;
	struct gid sgid, dgid;
};

/* The page that softibd writes and every program of the fabric maps read-only. */
struct fabric_page {
	uint32_t generation; /* changes with every table, link, capture or fault that flows depend
				on */
	uint32_t is_down;    /* softibd is about to exit */
	uint32_t is_paced;   /* links take time, and static rates hold */
	/* On a line of its own: every program polls the fields above. */
	_Alignas(RING_CACHE_LINE) uint32_t program_count; /* attached programs */
};

/* Offloaded packets of a flow; softibd adds them to the ports on the path. */
struct flow_counters {
	uint64_t packets;
	uint64_t words;
	/* The other way: responses to requests that the program carried out by RMA
	 * (runtime/rma/rma.h). */
	uint64_t returned_packets;
	uint64_t returned_words;
};

/* Layout of the process memfd: up ring at 0, then down ring, then FLOW_SLOTS flow counters; each
 * part page aligned. */
struct process_layout {
	size_t up_offset, down_offset, flows_offset, total_bytes;
};
struct process_layout process_layout(void);

/*
 * Layout of a direct memfd: the ring from the process with the lower id to the other, then the ring
 * back. Behind each ring lies the word ring (base/word_ring.h) by which its producer sends ACKs
 * (runtime/packets/ack_words.h). Parts are page aligned. The "ring" answer says which is whose:
 * "outgoing":0
 *
 * 1.
 */
struct direct_layout {
	size_t offset[2];
	size_t words_offset[2];
	size_t area_offset[2]; /* struct rma_area of that direction */
	size_t total_bytes;
};
struct direct_layout direct_layout(void);

#endif
