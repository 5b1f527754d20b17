import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

pytest_plugins = ["pytester"]


@pytest.fixture
def model(tmp_path):
    from models import small_model
    path = tmp_path / "small.onnx"
    path.write_bytes(small_model())
    return path
