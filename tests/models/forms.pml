/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of a SEND in a direct ring: a record with the whole packet, the template of a burst, a payload record, and any record of the engine.
 *
 * A payload record says neither queue pair nor PSN: the receiver counts from the last template. So a sender writes one only if nothing was written to
 * the ring since its burst's last record, no other request took a PSN (RMA, or a SEND through softibd, takes one without a record in this ring), and
 * its headers are those of the template. The receiver may put a record back, to wait for a receive request.
 *
 * Claim: the receiver makes of each payload record the packet that the sender meant.
 */

#define RECORDS 5
#define PSNS	4
#define QPS	2

mtype = { whole, template, payload, other };

/* What the sender means: kind, queue pair, PSN, version of the headers. The receiver does nothing that the sender sees, so how far it lags behind
 * makes no difference. */
chan ring = [1] of { mtype, byte, byte, byte };

#ifdef WITHOUT_TAIL_CHECK
#define is_last_in_ring(qp) true
#else
#define is_last_in_ring(qp) (burst_end[qp] == tail)
#endif

#ifdef WITHOUT_PSN_CHECK
#define has_next_psn(qp) true
#else
#define has_next_psn(qp) (burst_psn[qp] == next_psn[qp])
#endif

/* post (short_send.c), burst_continues, burst_posted, burst_begin, burst_continued; transmit_into; make_send_template */
active proctype sender()
{
	byte qp, tail;
	byte next_psn[QPS], version[QPS];
	byte burst_end[QPS], burst_psn[QPS];
	bool is_burst[QPS];

	do
	:: tail == RECORDS -> break
	:: tail < RECORDS ->
		atomic {
		if
		:: qp = 0
		:: qp = 1
		fi;
		if
		:: ring ! whole(qp, next_psn[qp], version[qp]);
			next_psn[qp]++;
			tail++;
			is_burst[qp] = false;
			burst_end[qp] = 0;
			burst_psn[qp] = 0
		:: ring ! template(qp, next_psn[qp], version[qp]);
			next_psn[qp]++;
			tail++;
			is_burst[qp] = true;
			burst_end[qp] = tail;
			burst_psn[qp] = next_psn[qp]
		:: is_burst[qp] && is_last_in_ring(qp) && has_next_psn(qp) ->
			ring ! payload(qp, next_psn[qp], version[qp]);
			next_psn[qp]++;
			tail++;
			burst_end[qp] = tail;
			burst_psn[qp] = next_psn[qp]
		:: /* packets of the engine, by reference, or a question of RMA */
			ring ! other(qp, next_psn[qp], version[qp]);
			next_psn[qp]++;
			tail++
		:: next_psn[qp] > 0 && next_psn[qp] < PSNS -> /* sent again */
			ring ! other(qp, next_psn[qp] - 1, version[qp]);
			tail++
		:: next_psn[qp] < PSNS -> next_psn[qp]++ /* RMA, or relayed */
		:: version[qp] < 1 -> /* a modify: another template */
			version[qp]++;
#ifndef WITHOUT_CLEARING
			is_burst[qp] = false;
			burst_end[qp] = 0;
			burst_psn[qp] = 0
#endif
		fi;
		qp = 0
		}
	od
}

/* burst_look (keep_template, payload_packet), take_burst, receive_is_held_back (burst_put_back, ring_put_back) */
active proctype receiver()
{
	byte taken, qp, psn, headers, burst_qp, burst_psn, burst_headers, payloads;
	bool is_put_back;
	mtype kind;

	do
	:: taken == RECORDS -> break
	:: taken < RECORDS ->
		atomic {
		ring ? <kind, qp, psn, headers>;
		if
		:: kind == template -> burst_qp = qp; burst_psn = psn; burst_headers = headers; payloads = 0
		:: kind == payload ->
			payloads++;
			assert(qp == burst_qp && psn == burst_psn + payloads && headers == burst_headers)
		:: else
		fi;
		if
		:: !is_put_back ->
			is_put_back = true;
#ifndef WITHOUT_PUT_BACK
			if
			:: kind == payload -> payloads--
			:: else
			fi
#endif
		:: ring ? kind, qp, psn, headers; taken++; is_put_back = false
		fi;
		kind = 0; qp = 0; psn = 0; headers = 0
		}
	od
}
