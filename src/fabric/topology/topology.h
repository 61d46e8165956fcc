/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies: makes nodes and links from text in ibnetdiscover's format (management 9.1) or from a
 * generator. */
#ifndef SOFTIB_FABRIC_TOPOLOGY_TOPOLOGY_H
#define SOFTIB_FABRIC_TOPOLOGY_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

struct fabric;
struct node;

struct topology_error {
	unsigned line; /* from 1; 0: the error is not about a line */
	char reason[160];
};

/* Fills an error and returns -EINVAL. */
MUST_USE int topology_fail(struct topology_error *ret_error, unsigned line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Parses the text of a file. Includes are not followed here: the daemon reads files. The fabric
 * must be empty; after an error the caller releases it. -EINVAL with ret_error filled in; -ENOMEM.
 */
MUST_USE int topology_parse(struct fabric *fabric, const char *text, size_t text_bytes,
			    struct topology_error *ret_error);

/* clang-format off */
/*
 * Builds a generated topology; the fabric must be empty.
 *
 * star:N         N hosts h1 .. hN on one switch; above 254 hosts on a two-level tree of 32-port
 *                leaf switches (24 hosts down, 8 links up) under spine switches
 * ring:N         N switches in a ring, one host each
 * fat-tree:K     three levels of K-port switches, K even: K^3/4 hosts
 * mesh:AxB       a switch and a host at each point of a grid
 * torus:AxB[xC]  a mesh with every dimension closed to a ring
 * routed:AxB     A subnets of a switch and B hosts each, and a router between them
 *
 * star:4+2       "+N" after any of them adds N target channel adapters tca1 .. tcaN, spread over the
 *                switches that have hosts, which get a port for each
 */
/* clang-format on */
MUST_USE int topology_generate(struct fabric *fabric, const char *generator,
			       struct topology_error *ret_error);

#endif
