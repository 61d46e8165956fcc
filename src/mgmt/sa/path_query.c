/* SPDX-License-Identifier: Apache-2.0 */
/* PathRecord and MultiPathRecord requests: their sources and destinations, and all pairs of them
 * (management 4.6). */
#include "mgmt/sa/path_records.h"

static bool is_single(const struct sa_request *request)
{
	return request->header.method == MAD_GET;
}

static void add_from(struct sa *sa, const struct sa_request *request,
		     const struct path_request *asked, const struct subnet_port *source,
		     const struct path_target *target)
{
	const struct subnet *subnet = sa->subnet;

	if (target->port || target->group) {
		path_add(sa, request, asked, source, target);
		return;
	}
	for (unsigned lid = LID_UNICAST_FIRST;
	     lid <= subnet->lid_max && sa_records_wants_more(&sa->records); lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];

		if (port && port->lid == lid) {
			const struct path_target each = path_target_port(sa, port);

			path_add(sa, request, asked, source, &each);
		}
	}
}

static void add_all(struct sa *sa, const struct sa_request *request,
		    const struct path_request *asked, const struct subnet_port *source,
		    const struct path_target *target)
{
	const struct subnet *subnet = sa->subnet;

	if (source) {
		add_from(sa, request, asked, source, target);
		return;
	}
	for (unsigned lid = LID_UNICAST_FIRST;
	     lid <= subnet->lid_max && sa_records_wants_more(&sa->records); lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];

		if (port && port->lid == lid)
			add_from(sa, request, asked, port, target);
	}
}

uint16_t sa_find_paths(struct sa *sa, const struct sa_request *request)
{
	struct path_request asked = {.components = request->sa_header.component_mask};
	const struct subnet_port *source = NULL;
	struct path_target target = {0};
	uint16_t status;

	path_record_decode(request->data, &asked.wanted);
	status = path_request_check(&asked);
	if (status == MAD_STATUS_OK)
		status = path_find_ends(sa, &asked, &source, &target);
	if (status != MAD_STATUS_OK)
		return status;
	/* A Get asks for one path, so it must name both ends. */
	if (is_single(request)) {
		if (!source || (!target.port && !target.group))
			return SA_STATUS_INSUFFICIENT_COMPONENTS;
		sa->records.count_max = 1;
	}
	add_all(sa, request, &asked, source, &target);
	return MAD_STATUS_OK;
}

/* The PathRecord component with the same meaning, for each MultiPathRecord component. */
static const uint8_t multi_path_as_path[][2] = {
	{MPR_RAW_TRAFFIC, PR_RAW_TRAFFIC},
	{MPR_FLOW_LABEL, PR_FLOW_LABEL},
	{MPR_HOP_LIMIT, PR_HOP_LIMIT},
	{MPR_TRAFFIC_CLASS, PR_TRAFFIC_CLASS},
	{MPR_REVERSIBLE, PR_REVERSIBLE},
	{MPR_PATH_COUNT, PR_PATH_COUNT},
	{MPR_PKEY, PR_PKEY},
	{MPR_QOS_CLASS, PR_QOS_CLASS},
	{MPR_SL, PR_SL},
	{MPR_MTU_SELECTOR, PR_MTU_SELECTOR},
	{MPR_MTU, PR_MTU},
	{MPR_RATE_SELECTOR, PR_RATE_SELECTOR},
	{MPR_RATE, PR_RATE},
	{MPR_PACKET_LIFE_TIME_SELECTOR, PR_PACKET_LIFE_TIME_SELECTOR},
	{MPR_PACKET_LIFE_TIME, PR_PACKET_LIFE_TIME},
	{MPR_SERVICE_ID_HIGH, PR_SERVICE_ID_HIGH},
	{MPR_SERVICE_ID_LOW, PR_SERVICE_ID_LOW},
};

static struct path_request as_path_request(uint64_t components,
					   const struct multi_path_header *header)
{
	struct path_request asked = {
		.components = SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID),
		.wanted = {.service_id =
				   (uint64_t)header->service_id_high << 56 | header->service_id_low,
			   .raw_traffic = header->raw_traffic,
			   .flow_label = header->flow_label,
			   .hop_limit = header->hop_limit,
			   .traffic_class = header->traffic_class,
			   .reversible = header->reversible,
			   .path_count = header->path_count,
			   .pkey = header->pkey,
			   .qos_class = header->qos_class,
			   .sl = header->sl,
			   .mtu_selector = header->mtu_selector,
			   .mtu = header->mtu,
			   .rate_selector = header->rate_selector,
			   .rate = header->rate,
			   .packet_life_time_selector = header->packet_life_time_selector,
			   .packet_life_time = header->packet_life_time},
	};

	for (size_t i = 0; i < ARRAY_COUNT(multi_path_as_path); i++)
		if (components & SA_COMPONENT(multi_path_as_path[i][0]))
			asked.components |= SA_COMPONENT(multi_path_as_path[i][1]);
	return asked;
}

static struct gid gid_at(const struct sa_request *request, unsigned index)
{
	const uint8_t *bytes = request->data + MULTI_PATH_HEADER_BYTES + 16u * index;
	struct gid gid;

	memcpy(gid.bytes, bytes, sizeof(gid.bytes));
	return gid;
}

/* The counts must be given, not 0, and match the number of GIDs (management 4.6). */
static uint16_t check_counts(const struct sa_request *request,
			     const struct multi_path_header *header)
{
	size_t byte_count =
		MULTI_PATH_HEADER_BYTES + 16u * ((size_t)header->sgid_count + header->dgid_count);

	if (!sa_request_has_all(request,
				SA_COMPONENT(MPR_SGID_COUNT) | SA_COMPONENT(MPR_DGID_COUNT)))
		return SA_STATUS_INSUFFICIENT_COMPONENTS;
	if (!header->sgid_count || !header->dgid_count || byte_count > request->data_bytes)
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

static uint16_t add_pair(struct sa *sa, const struct sa_request *request,
			 struct path_request *asked, const struct gid *sgid, const struct gid *dgid)
{
	const struct subnet_port *source = NULL;
	struct path_target target = {0};
	uint16_t status;

	asked->wanted.sgid_prefix = gid_prefix(sgid);
	asked->wanted.sgid_guid = gid_guid(sgid);
	asked->wanted.dgid_prefix = gid_prefix(dgid);
	asked->wanted.dgid_guid = gid_guid(dgid);
	status = path_find_ends(sa, asked, &source, &target);
	/* A multicast group has only one path. */
	if (status == MAD_STATUS_OK && target.group)
		return SA_STATUS_INVALID_GID;
	if (status == MAD_STATUS_OK)
		path_add(sa, request, asked, source, &target);
	return status;
}

/* All pairs of the given GIDs, at most NumbPath paths. Pairs are visited diagonally, so that the
 * first ones have as many different ends as possible, as the IndependenceSelector asks. */
uint16_t sa_find_multi_paths(struct sa *sa, const struct sa_request *request)
{
	struct multi_path_header header;
	uint16_t status;

	multi_path_header_decode(request->data, &header);
	status = check_counts(request, &header);

	struct path_request asked = as_path_request(request->sa_header.component_mask, &header);
	unsigned pair_count = (unsigned)header.sgid_count * header.dgid_count;

	if (status == MAD_STATUS_OK)
		status = path_request_check(&asked);
	if (path_request_has(&asked, PR_PATH_COUNT) && header.path_count) {
		sa->records.count_max = header.path_count;
		/* One path for each pair before any pair gets a second. */
		if (header.path_count <= pair_count)
			asked.wanted.path_count = 1;
	}
	for (unsigned i = 0; i < pair_count && status == MAD_STATUS_OK; i++) {
		unsigned source = i % header.sgid_count;
		unsigned target = (i / header.sgid_count + source) % header.dgid_count;
		struct gid sgid = gid_at(request, source);
		struct gid dgid = gid_at(request, header.sgid_count + target);

		status = add_pair(sa, request, &asked, &sgid, &dgid);
	}
	return status;
}
