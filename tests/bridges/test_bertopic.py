"""BERTopic's pipeline with our UMAP as ``umap_model``, on vectors given."""

import numpy as np
import pytest

import lowdim

bertopic = pytest.importorskip("bertopic")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def documents():
    """Texts of four subjects, and vectors that know them."""
    rng = np.random.default_rng(0)
    subjects = [
        "cell nucleus protein membrane gene", "engine wheel brake gear clutch",
        "goal referee match striker league", "bread oven flour yeast dough",
    ]  # fmt: skip
    codes = np.repeat(np.arange(4), 80)
    texts = [" ".join(rng.choice(subjects[c].split(), 8)) + f" note {rng.integers(50)}" for c in codes]
    vectors = rng.normal(size=(4, 64))[codes] + 0.35 * rng.normal(size=(320, 64))
    return texts, vectors.astype(np.float32), codes


def topics_of(documents, **models):
    texts, vectors, _ = documents
    model = bertopic.BERTopic(
        umap_model=lowdim.UMAP(5, n_neighbors=15, min_dist=0.0, metric="cosine", random_state=0), **models
    )
    topics, _ = model.fit_transform(texts, vectors)
    return model, np.array(topics)


def test_topics_are_the_subjects(documents):
    from sklearn.metrics import adjusted_rand_score

    model, topics = topics_of(documents)
    assert adjusted_rand_score(documents[2], topics) > 0.9
    words = {word for topic in set(topics) - {-1} for word, _ in model.get_topic(topic)[:3]}
    assert {"cell", "engine", "goal", "bread"} & words or len(words) >= 8
    placed, _ = model.transform(documents[0][:20], documents[1][:20])
    assert (np.array(placed) == topics[:20]).mean() > 0.9


def test_hdbscan_of_the_map_of_five_dimensions(documents):
    hdbscan = pytest.importorskip("hdbscan")
    _, topics = topics_of(documents, hdbscan_model=hdbscan.HDBSCAN(min_cluster_size=20, prediction_data=True))
    assert len(set(topics) - {-1}) == 4


def test_same_seed_same_topics(documents):
    assert (topics_of(documents)[1] == topics_of(documents)[1]).all()
