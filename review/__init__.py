# SPDX-License-Identifier: Apache-2.0
"""Reviews the source of a PMU driver, before there is hardware: docs/review.md."""
