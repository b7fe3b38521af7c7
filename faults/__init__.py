# SPDX-License-Identifier: Apache-2.0
"""Faults: bugs on purpose, which prove that tests can fail. This package reads them; ci.faults runs them."""
