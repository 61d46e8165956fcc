/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs and softibd say to each other.
 *
 * Control socket: SOCK_SEQPACKET, one JSON object per message, at most CONTROL_MESSAGE_BYTES; the
 * program asks, softibd answers {"ok":true,...} or
 * {"ok":false,"error":"text","errno":N}. Descriptors travel with the answer, in the order named.
 *
 *   {"command":"hello","version":3,"host":"h1","pid":N,"kind":"program"|"hold"|"tool"}
 *        -> "fabric","host","tree"
 * (path),"adapters":[{"name","index","node_guid","system_image_guid","ports"}...]   ("hold": softib
 * run keeps the fabric alive, nothing else)
 *   {"command":"attach"}            once per process, before the first adapter is used
 *        -> "ring_bytes"; descriptors: fabric page (read-only), process page memfd (up ring, down
 * ring, flow counters: struct process_layout), own exposure (ipc/rma_area.h), own doorbell,
 * softibd's doorbell
 *   {"command":"port","adapter":I}  -> softibd will send RECORD_PORT_UPDATE for every port of the
 * adapter now and on each change; "ok" after the first ones are in the ring
 *   {"command":"qpns","adapter":I,"count":N} -> "first","count" (blocks of QPN_BLOCK)
 *   {"command":"ring","id":N}       -> "outgoing_bytes","incoming_bytes"; descriptors: ring memfd
 * (struct direct_layout), the peer's exposure, the peer's doorbell
 *   {"command":"refuse","id":N}     -> the ring could not be kept: it is closed, and no more are
 * offered
 *   {"command":"domain","adapter":I,"device":"0x..","inode":"0x..","opening":0|1|2} -> "id"; an XRC
 * domain that processes share by a file (enum xrcd_opening)
 *   {"command":"target","adapter":I,"domain":N} -> "qpn","shared": a new target of it; not shared:
 * it stays with this process until RECORD_TARGET_RECALLED
 *   {"command":"target-open","adapter":I,"domain":N,"qpn":N}
 *   {"command":"catch-up"}          -> what is in the up ring has been read
 *   {"command":"target-borrow","adapter":I,"domain":N,"qpn":N,"now":bool} -> it is in the down
 * ring; EAGAIN: another process has it still
 *   {"command":"raw","adapter":I,"port":N,"kind":0|1} -> the raw packets of that kind (enum
 * raw_kind) that the port receives are this program's until RECORD_RAW_RELEASED, and only it may
 * send such; EBUSY: another has them, or it has them already
 *   {"command":"mads","adapter":"softib0","port":N} -> descriptor: a socket for the MADs of that
 * port (runtime/mad_port.h)
 *   {"command":"mad-register","inode":of that socket,"class","version","oui","kind","methods_low",
 * "methods_high"} -> "id","number"; {"command":"mad-unregister","inode","id"}
 *   tools: {"command":"hosts"},
 * {"command":"status"}, {"command":"link","node":..,"port":..,"up":bool},
 * {"command":"refresh","host":..}, {"command":"down"}, {"command":"wait-active","timeout_ms":N}
 *   "capture": ipc/capture_ring.h; "fault-add", "fault-list", "fault-clear", "fault-record",
 * "fault-replay": daemon/control/fault_commands.c; "explain": daemon/control/explain_commands.c
 */
#ifndef SOFTIB_IPC_PROTOCOL_H
#define SOFTIB_IPC_PROTOCOL_H

#include <stdint.h>
#include "base/ring.h"
#include "base/word_ring.h"
#include "net/transport/port_view.h"

enum {
	PROTOCOL_VERSION = 10,
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
	RECORD_RING_OFFERED = 4, /* down: record->word = ring id; a peer will send on it; fetch it
				    with "ring" and read it from now on */
	RECORD_PORT_UPDATE = 5,	 /* down: struct port_update */
	/* XRC targets of domains that processes share: record->word = QPN. */
	RECORD_TARGET_LEASED = 6,    /* down: struct xrc_lease, then the state */
	RECORD_TARGET_PACKET = 7,    /* down: as RECORD_PACKET, for a target that was lent */
	RECORD_TARGET_RECALLED = 8,  /* down: give it back when it is idle; packet_count 1: now */
	RECORD_TARGET_EVENT = 9,     /* down: packet_count = enum qp_event that it raised */
	RECORD_TARGET_RETURNED = 10, /* up: struct target_return, then the state */
	RECORD_TARGET_CLOSED = 11,   /* up: no consumer of this process has it open any more */
	RECORD_VERB_FAULT = 13,	     /* down: struct verb_fault (ipc/verb_faults.h) */
	RECORD_DOMAIN_CLOSED = 12,   /* up: record->word = id of the domain */
	/* Of connections: record->word = QPN. */
	RECORD_ALTERNATE_PATH = 16,    /* down: struct alternate_path (runtime/alternate_paths.h) */
	RECORD_ALTERNATE_LOADED = 17,  /* up */
	RECORD_ALTERNATE_REFUSED = 18, /* up */
	RECORD_RAW_PACKET = 19, /* down: as RECORD_PACKET, for the raw queue pair of the port */
	RECORD_RAW_RELEASED =
		20, /* up: it is gone; record->word = port number << 8 | enum raw_kind */
	RECORD_RMA_GRANT_REQUEST = 14, /* on direct rings: struct rma_grant_request, then the
					headers of a packet (ipc/rma_area.h) */
	RECORD_ZCOPY = 15, /* on direct rings: as RECORD_PACKET, with a struct zcopy_ticket for the
			       payload (runtime/zcopy/zcopy_send.h) */
	RECORD_UD_ZCOPY = 21, /* on direct rings: a struct ud_zcopy_ticket, then as RECORD_PACKET: a
			     datagram, with room for its payload (runtime/zcopy/ud_zcopy.h) */
	RECORD_TEMPLATE = 23, /* on direct rings: as RECORD_PACKET; repeats may follow
				 (runtime/fast/burst.h) */
	RECORD_KEY_VIOLATION = 24, /* up: struct key_violation */
	RECORD_PIN_ASKED = 22, /* on direct rings: struct pin_ask (runtime/rma/pinned_range.h) */
};

/* What the packet itself does not say: the static rate of its address vector (a code of
 * wire/rate.h; 0: as fast as the port) and the queue pair or EE context that sends it. */
static inline uint32_t record_packet_word(uint8_t static_rate, uint32_t qpn)
{
	return qpn << 8 | static_rate;
}

enum { TARGET_STATE_BYTES_MAX = 4096 };

/* What the state consists of is the programs' business; softibd keeps it. */
struct xrc_lease {
	uint32_t domain_id;
	uint32_t is_lost; /* whoever had it died: no state follows */
};

struct target_return {
	uint32_t taken_count; /* RECORD_TARGET_PACKETs since it was lent: with fewer than were sent
				 it is not given back yet */
	uint32_t events;      /* bits of enum qp_event: for all that have the target open */
};

struct resolve_request {
	uint32_t request_id; /* the program's */
	uint32_t generation; /* that it saw */
	uint32_t destination_qpn;
	uint16_t dlid;
	uint16_t pkey;
	uint16_t source_port; /* adapter << 8 | port */
	uint8_t sl;
	uint8_t reserved;
};

enum resolve_verdict {
	RESOLVED_FABRIC,       /* send by the up ring */
	RESOLVED_FABRIC_RETRY, /* the same for now; ask again after a while */
	RESOLVED_DIRECT,
};

struct resolve_answer {
	uint32_t request_id;
	uint32_t generation; /* the answer holds while the fabric page shows this one */
	uint32_t verdict;    /* enum resolve_verdict */
	uint32_t ring_id;
	uint32_t flow_slot; /* index into process_layout.flows, counted by the program */
	uint8_t mtu_code;
	uint8_t reserved;
	uint16_t destination_port; /* adapter << 8 | port at the destination: goes into record->port
				      on the direct ring */
};

struct port_update {
	uint32_t adapter_index;
	uint32_t client_reregister;
	struct port_view view;
};

/* Packets for queue pairs of the program that came under a wrong key; record->port is where. */
struct key_violation {
	uint32_t count;
	/* Of the last one. */
	uint32_t key;
	uint32_t source_qpn; /* 0 without a DETH */
	uint32_t destination_qpn;
	uint16_t slid, dlid;
	uint8_t sl;
	uint8_t is_qkey; /* else P_Key */
	uint8_t has_source_qpn;
	uint8_t has_grh;
	struct gid sgid, dgid;
};

/* The page that softibd writes and every program of the fabric maps read-only. */
struct fabric_page {
	uint32_t generation; /* changes with anything that flows depend on */
	uint32_t is_down;    /* softibd is leaving */
	uint32_t is_paced;   /* links take time, and static rates hold */
	/* Not with those above, which everybody looks at all the time. */
	_Alignas(RING_CACHE_LINE) uint32_t program_count; /* that are attached */
};

/* What a program sent on a direct flow; softibd adds it to the ports on the way. */
struct flow_counters {
	uint64_t packets;
	uint64_t words;
	/* The other way: answers to requests that it carried out by itself (runtime/rma/rma.h). */
	uint64_t returned_packets;
	uint64_t returned_words;
};

/* Layout of the process memfd: up ring at 0, then down ring, then FLOW_SLOTS flow counters; each
 * part page aligned. */
struct process_layout {
	size_t up_offset, down_offset, flows_offset, total_bytes;
};
struct process_layout process_layout(void);

/* Layout of a direct memfd: ring from the process with the lower id to the other, then the way
 * back; behind each the ring of words (base/word_ring.h) by which its producer acknowledges
 * (runtime/fast/short_send.h); page aligned. The "ring" answer says which is whose: "outgoing":0|1.
 */
struct direct_layout {
	size_t offset[2];
	size_t words_offset[2];
	size_t area_offset[2]; /* struct rma_area of what goes that way */
	size_t total_bytes;
};
struct direct_layout direct_layout(void);

#endif
