"""
Redundant features
==================

Thirty measurements of tumours, ranked by mutual information and by mRMR: what the best features share.

.. image:: /images/redundant_features.png
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from lowdim import RankFeatures, show

found = load_breast_cancer()
names = [str(name) for name in found.feature_names]
figure, axes = plt.subplots(1, 2, figsize=(13.0, 5.8), layout="constrained")
for ax, by in zip(axes, ("mutual_info", "mrmr"), strict=True):
    model = RankFeatures(by, n_features_to_select=5).fit(found.data, found.target)
    show.redundancy(model, names=names, ax=ax)
plt.show()

# sphinx_gallery_thumbnail_path = "images/redundant_features.png"
