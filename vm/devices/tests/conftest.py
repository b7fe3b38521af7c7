# SPDX-License-Identifier: Apache-2.0
"""Builds each model once for all tests."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

from vm.testing.model import Model

MakeModel = Callable[[str], Model]


@pytest.fixture(scope="session")
def make_model(tmp_path_factory: pytest.TempPathFactory) -> MakeModel:
    folder: pathlib.Path = tmp_path_factory.mktemp("models")
    return lambda name: Model(name, folder)
