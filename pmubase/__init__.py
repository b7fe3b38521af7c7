# SPDX-License-Identifier: Apache-2.0
"""The base of the Python packages: the cache, the error that a user reads, and the reader of TOML files."""
