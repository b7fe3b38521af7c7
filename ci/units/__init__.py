# SPDX-License-Identifier: Apache-2.0
"""Units of testing: their inputs, the records of their passes, and their schedule."""
