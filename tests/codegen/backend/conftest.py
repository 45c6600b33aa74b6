"""A small model for the tests of the back end: twenty operators of every shape."""

import json
from pathlib import Path

import pytest

from codegen.backend.model import read_model

MODEL = Path(__file__).with_name("model.json")


@pytest.fixture
def model_json():
    return json.loads(MODEL.read_text())


@pytest.fixture
def model(model_json):
    return read_model(model_json)
