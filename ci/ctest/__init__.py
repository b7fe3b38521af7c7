# SPDX-License-Identifier: Apache-2.0
"""The declarations of the tests for CTest, and the lists that they read."""
