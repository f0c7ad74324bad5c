import os
from pathlib import Path

import pytest

# The checkout, for the golden files of the other languages.
ROOT = Path(os.environ.get("TRUEBLOOM_ROOT", Path(__file__).resolve().parents[2]))


@pytest.fixture
def golden() -> Path:
    return ROOT / "crates/filter/tests/golden"
