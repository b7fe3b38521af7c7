# SPDX-License-Identifier: Apache-2.0
"""The suite. Its Python code generates C++ code from the catalogue."""
