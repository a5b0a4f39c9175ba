"""The notebook widget speaks the same protocol over its own channel."""

import sys

import numpy as np
import pytest
from talking import wait_for

import lowdim
from lowdim.explorer.message_format import Message, decode, encode, pack_bits


@pytest.fixture
def explorer(rng, monkeypatch):
    X = rng.normal(size=(60, 4))
    explorer = lowdim.explore(X, np.arange(60) % 2, title="noise")
    sent = []
    monkeypatch.setattr(explorer, "send", lambda content, buffers: sent.extend(map(decode, buffers)))
    yield explorer, sent
    explorer.close()


def ask(explorer, sent, message):
    explorer._heard(explorer, {}, [memoryview(encode(message))])
    wait_for(lambda: any(one.id == message.id for one in sent))
    return next(one for one in sent if one.id == message.id)


def test_the_widget_answers_and_pushes_frames(explorer):
    explorer, sent = explorer
    assert ask(explorer, sent, Message("hello", 1)).fields["title"] == "noise"
    number = ask(explorer, sent, Message("fit", 2, {"method": "pca", "parameters": {}})).fields["map"]
    wait_for(lambda: any(one.type == "frame" and one.fields["map"] == number for one in sent))
    assert explorer.maps[number].shape == (60, 2)
    assert isinstance(explorer.model(number), lowdim.PCA)


def test_selection_and_labels_are_seen_from_python(explorer):
    explorer, sent = explorer
    ask(explorer, sent, Message("select", 1, {}, {"mask": pack_bits(np.arange(60) == 7)}))
    assert explorer.selection.tolist() == [7]
    ask(explorer, sent, Message("label", 2, {"column": "mine", "name": "odd"}))
    assert explorer.labels["mine"].drop_nulls().to_list() == ["odd"]
    with pytest.raises(ValueError, match="no map 99"):
        explorer.model(99)


def test_a_thread_of_the_widget_may_end_it(explorer):
    explorer, _ = explorer
    ended = []
    explorer._lanes.put(lambda: ended.append(explorer.close()))  # as when it drops the last reference
    wait_for(lambda: ended)


def test_the_widget_carries_the_module_and_its_style(explorer):
    explorer, _ = explorer
    assert "export default" in str(explorer._esm)
    assert str(explorer._css)


def test_what_cannot_be_explored_is_told():
    X = np.eye(5)
    with pytest.raises(ValueError, match="one label for each of the 5 rows"):
        lowdim.explore(X, [1, 2])
    with pytest.raises(ValueError, match="'a' has 3"):
        lowdim.explore(X, table={"a": [1, 2, 3]})
    with pytest.raises(TypeError, match="a data frame or a mapping"):
        lowdim.explore(X, table=[1])
    with pytest.raises(ValueError, match="image_shape must be .height, width. with 5 pixels"):
        lowdim.explore(X, image_shape=(2, 2))
    with pytest.raises(ValueError, match="method must be one of"):
        lowdim.explore(X, method="magic")
    with pytest.raises(ValueError, match="LLE takes .*got variant"):
        lowdim.explore(X, method="lle", parameters={"variant": "ltsa"})


def test_without_anywidget_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "lowdim.explorer.widget", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'lowdim\[widget\]'"):
        lowdim.explore(np.eye(5))


def test_without_the_web_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(ImportError, match=r"pip install 'lowdim\[explore\]'"):
        lowdim.explore(np.eye(5), browser=True)
