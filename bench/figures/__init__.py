# SPDX-License-Identifier: Apache-2.0
"""What bench/run and bench/quick measure: softib's figures, its peers' figures, and the targets that tie them together."""
