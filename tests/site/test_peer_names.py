"""The tables for people who come from another library name every parameter of its classes."""

import re

import pytest

import lowdim


@pytest.fixture
def names(monkeypatch, request):
    """The script that writes the tables."""
    monkeypatch.syspath_prepend(request.config.rootpath / "docs" / "_site")
    import peer_names

    return peer_names


def tables(names):
    """Text of each pair on the page."""
    text = names.PAGE.read_text(encoding="utf-8")
    text = text[text.index(names.START) : text.index(names.END)]
    return {part.partition("`")[0]: part for part in re.split(r"^\*\*`", text, flags=re.M)[1:]}


def test_every_name_of_an_installed_peer_is_in_its_table(names):
    page, seen = tables(names), []
    assert set(page) == {pair.label for pair in names.PAIRS}
    for pair in names.PAIRS:
        found = names.peer_names(pair.peer)
        if found is None:
            continue
        written = set(re.findall(r"`(\w+)(?:=[^`]*)?`", page[pair.label]))
        assert {*found[0], *found[1]} <= written, pair.peer
        seen.append(pair.peer)
    assert "sklearn.decomposition.PCA" in seen


def test_the_tables_are_those_that_the_signatures_give(names):
    page, same = tables(names), 0
    for pair, text in names.sections():
        if f"of {names.release(pair)} is" in page[pair.label]:  # tables of another release may differ
            assert text.strip() == ("**`" + page[pair.label].partition(names.END)[0]).strip()
            same += 1
    if same == 0:
        pytest.skip("the page was written for other releases")


def test_what_is_written_instead_exists(names):
    for pair in names.PAIRS:
        here = names.names_of(pair.ours)
        assert {new for new in pair.renamed.values() if new} <= set(here), pair.peer
        assert not set(pair.absent) & set(here), f"{pair.ours} has them"
        assert hasattr(lowdim, pair.ours)


def test_a_name_that_is_neither_ours_nor_explained_is_an_error(names):
    pair = names.Pair("sklearn.decomposition.PCA", "PCA")
    with pytest.raises(LookupError, match=r"sklearn\.decomposition\.PCA: copy is neither a name of PCA nor explained"):
        list(names.sections([pair]))
