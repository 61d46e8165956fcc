/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters as metrics in the text format of Prometheus. Names and labels are those of
 * infiniband_exporter (a whole fabric: infiniband_switch_port_*, infiniband_hca_port_*) and, for
 * the ports of hosts, of node_exporter's infiniband collector (node_infiniband_*).
 */
#ifndef SOFTIB_MGMT_PERF_PERF_METRICS_H
#define SOFTIB_MGMT_PERF_PERF_METRICS_H

#include <stdio.h>

struct perf_manager;

void perf_metrics_write(const struct perf_manager *manager, FILE *file);

#endif
