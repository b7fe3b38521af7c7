# SPDX-License-Identifier: Apache-2.0
"""Units of testing: what each reads, which passed before, and how they run side by side."""
