"""The command `history`: listing, asking again, comparing, giving away and opening."""

import pytest

from relic_core import cli
from relic_core.services.answers import SearchRequest
from relic_core.wiring import build
from tests.making import work_of

CLAIM = "He counted the lanterns"


@pytest.fixture
def run(settings, monkeypatch, capsys):
    """Run the command on the test's own store; gives exit code, output and errors."""
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)

    def run(*arguments):
        try:
            code = cli.main(["history", *arguments])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def search(settings):
    """A search by words in a small work, with what it found."""
    bench = build(settings)
    work = work_of()
    bench.store.works.add(work)
    request = SearchRequest(work_id=work.id, claim_text=CLAIM, retrievers=("bm25", "tf-idf"))
    search_id = bench.history.keep(request).id
    bench.sharing.remember(search_id, bench.search.run(request))
    return search_id


def test_what_was_asked_is_listed_and_looked_through(run, search):
    code, said, _ = run()
    assert (code, said.splitlines()[1].split()[0]) == (0, search)
    assert CLAIM in said
    assert CLAIM in run("--words", "LANTERNS")[1]
    assert run("--words", "brass")[1] == "Nothing that holds these words was asked.\n"


def test_a_search_is_shown_with_the_address_that_opens_it_elsewhere(run, search):
    code, said, _ = run("show", search)
    address = said.split("address", 1)[1].split()[0]
    assert code == 0
    assert run("open", address)[1].startswith(f"The search is in the history as {search}.")


def test_a_search_asked_again_says_that_nothing_has_moved(run, search):
    code, said, _ = run("rerun", search)
    assert code == 0
    assert "Nothing that answers has changed." in said
    assert said.count("as it was") == 2


def test_two_retrievers_are_compared(run, search):
    code, said, _ = run("compare", search, "bm25", "tf-idf")
    assert code == 0
    assert "rank-biased overlap (p = 0.9)" in said
    assert "He counted their lanterns instead." in said


def test_a_search_goes_into_a_file_and_comes_out_of_it(run, search, tmp_path):
    path = tmp_path / "search.relic.json"
    assert run("save", search, str(path))[0] == 0
    assert run("open", str(path))[1].startswith(f"The search is in the history as {search}.")
    path.write_text("{}")
    code, _, told = run("open", str(path))
    assert (code, "Traceback" in told) == (1, False)


@pytest.mark.parametrize(
    "said", [("show",), ("compare", "a", "b"), ("list", "a"), ("show", "a", "--words", "b"), ("--limit", "0")]
)
def test_wrong_usage_is_told(run, said):
    assert run(*said)[0] == 2


def test_a_search_that_is_not_there_is_told(run, search):
    code, _, told = run("rerun", "zzzzzzz")
    assert code == 1
    assert "There is no search 'zzzzzzz' in this store" in told
