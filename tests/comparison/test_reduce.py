import numpy as np
import pytest

import lowdim


def test_reduce_is_the_class_by_its_name(decaying):
    np.testing.assert_array_equal(lowdim.reduce(decaying, "pca"), lowdim.PCA(2).fit_transform(decaying))
    np.testing.assert_array_equal(
        lowdim.reduce(decaying, "PCA", parameters={"n_components": 3, "whiten": True}),
        lowdim.PCA(3, whiten=True).fit_transform(decaying),
    )
    np.testing.assert_array_equal(
        lowdim.reduce(decaying, "lle", parameters={"method": "modified", "random_state": 0}),
        lowdim.LLE(2, method="modified", random_state=0).fit_transform(decaying),
    )


def test_unknown_methods_and_parameters_are_refused(decaying):
    with pytest.raises(ValueError, match="method must be one of pca.*got 'pcaa'. Did you mean 'pca'"):
        lowdim.reduce(decaying, "pcaa")
    with pytest.raises(ValueError, match="PCA takes device, .*n_components.*got perplexity"):
        lowdim.reduce(decaying, "pca", parameters={"perplexity": 3})
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_components'"):
        lowdim.reduce(decaying, "pca", n_components=3)
    with pytest.raises(TypeError, match="positional"):
        lowdim.reduce(decaying, method="pca")
    with pytest.raises(TypeError, match="parameters must map names of parameters to values; got 5"):
        lowdim.reduce(decaying, "pca", parameters=5)
