"""Pictures are closed after each test, so that none draws on another's."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")
