"""Tables that export Arrow data, whatever library they are of."""

import numpy as np
import pytest

import lowdim
from lowdim.data.arrow import from_arrow

pa = pytest.importorskip("pyarrow")
NAMES = ["a", "b", "c"]


class Exported:
    """A table of an unknown library."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture
def values(rng):
    return rng.normal(size=(40, 3))


@pytest.mark.parametrize("form", [lambda t: t, lambda t: t.combine_chunks().to_batches()[0], Exported])
def test_rows_and_names_come_from_any_arrow_table(values, form):
    table = form(pa.table(dict(zip(NAMES, values.T, strict=True))))
    model = lowdim.PCA(2).fit(table)
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_allclose(model.transform(table), lowdim.PCA(2).fit_transform(values), atol=1e-12)
    assert list(lowdim.Prepare().fit(table).get_feature_names_out()) == NAMES
    assert lowdim.compare(table, methods=["pca"]).prepared.names == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(form(pa.table(dict(zip("xyz", values.T, strict=True)))))


def test_text_and_gaps_are_prepared():
    table = Exported(pa.table({"a": [1.0, None] * 20, "kind": ["x", "y"] * 20}))
    model = lowdim.chain(lowdim.Prepare(missing="median"), lowdim.PCA(1)).fit(table)
    assert model.transform(table).shape == (40, 1)
    with pytest.raises(ValueError, match="must be numeric"):
        lowdim.PCA(1).fit(table)


def test_arrays_and_frames_are_left_alone(values):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for one in (values, values.tolist(), pl.DataFrame(values), pd.DataFrame(values)):
        assert from_arrow(one) is one
