"""Fetching books from a mirror of Project Gutenberg, against one on this machine that can misbehave."""

import contextlib
import itertools
import json
import multiprocessing
import socket
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from relic_core.errors import (
    BadRequest,
    JobCancelled,
    NotFound,
    SourceAway,
    SourceUnavailable,
    StoreReadOnly,
    TextTooLarge,
)
from relic_core.library.gutenberg import Book, Downloads, Gate, Gutenberg, parse_number, paths
from tests.gutenberg_mirror import serve
from tests.privileges import without_privileges

BOOK = "The Project Gutenberg eBook of Lanterns\n\nNobody counted them. It was a café.\n".encode() * 40


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self, at=1_795_248_000.0):  # 21 November 2026, 08:00 UTC
        self.at = at
        self.slept = []

    def __call__(self):
        return self.at

    def sleep(self, seconds):
        assert seconds > 0
        self.slept.append(seconds)
        self.at += seconds


@contextlib.contextmanager
def free_turn(_while_waiting):
    yield


def quiet(_note):
    """Say nothing, stop nothing."""


@pytest.fixture
def mirror():
    with serve({1342: BOOK}) as mirror:
        yield mirror


@pytest.fixture
def make(tmp_path, mirror):
    """Make a fetcher on the test's mirror, folder and clock."""

    def make(*, address=None, pause=0.0, clock=None, max_bytes=1_000_000, turn=free_turn):
        clock = clock or Clock()
        downloads = Downloads(tmp_path / "downloads")
        gate = Gate(downloads, pause, turn, clock=clock, sleep=clock.sleep)
        return Gutenberg(address or mirror.address, downloads, gate, max_bytes=max_bytes)

    return make


@pytest.mark.parametrize(
    "said",
    [
        "1342",
        " 1342 ",
        "#1342",
        "pg1342",
        "PG1342",
        "pg1342.txt",
        "1342-0.txt",
        "gutenberg:1342",
        "https://www.gutenberg.org/ebooks/1342",
        "http://www.gutenberg.org/ebooks/1342.txt.utf-8",
        "www.gutenberg.org/files/1342/1342-h/1342-h.htm",
        "https://gutenberg.pglaf.org/cache/epub/1342/pg1342-images.html?x=1",
    ],
)
def test_a_number_is_read_from_what_people_paste(said):
    assert parse_number(said) == 1342


@pytest.mark.parametrize(
    "said", ["", "0", "-5", "emma", "13 42", "1e3", "https://example.org/1342", "99999999999", "1342; rm -rf /"]
)
def test_what_holds_no_number_is_told(said):
    with pytest.raises(BadRequest, match="not a number"):
        parse_number(said)


def test_a_book_is_looked_for_where_mirrors_have_it():
    assert paths(1342) == (
        "cache/epub/1342/pg1342.txt",
        "1/3/4/1342/1342-0.txt",
        "1/3/4/1342/1342-8.txt",
        "1/3/4/1342/1342.txt",
    )
    assert paths(7)[1:] == ("0/7/7-0.txt", "0/7/7-8.txt", "0/7/7.txt")
    assert paths(11)[1] == "1/11/11-0.txt"


@pytest.mark.parametrize(("end", "requests"), [("cache", 1), ("-0", 2), ("-8", 3), ("", 4)])
def test_a_book_is_fetched_from_wherever_the_mirror_has_it(make, mirror, end, requests):
    mirror.end = end
    book = make().fetch(1342, quiet)
    assert book.data == BOOK
    assert book.url == mirror.address + mirror.path(1342)
    assert len(mirror.asked) == requests
    assert book.source == f"Project Gutenberg 1342, {book.url}, fetched 21 November 2026"
    assert book.notice == ""


def test_a_program_gives_its_true_name(make, mirror):
    make().fetch(1342, quiet)
    ((_, headers),) = mirror.asked
    assert headers["User-Agent"].startswith("RELiC-Workbench/0.")
    assert "own library" in headers["User-Agent"]


def test_what_is_kept_is_asked_after_and_not_sent_again(make, mirror, tmp_path):
    clock = Clock()
    first = make(clock=clock).fetch(1342, quiet)
    clock.at += 9 * 86_400
    again = make(clock=clock).fetch(1342, quiet)
    assert again.data == BOOK
    assert again.fetched == first.fetched == datetime(2026, 11, 21, 8, tzinfo=UTC), "the bytes are as old as they were"
    headers = [headers for _, headers in mirror.asked]
    assert "If-None-Match" not in headers[0]
    assert headers[1]["If-None-Match"]
    about = json.loads((tmp_path / "downloads" / "1342" / "about.json").read_text())
    assert set(about) == {"url", "etag", "last_modified", "sha256", "fetched", "itself"}


def test_the_date_of_a_file_serves_where_it_has_no_tag(make, mirror):
    mirror.etags = False
    make().fetch(1342, quiet)
    make().fetch(1342, quiet)
    assert mirror.asked[1][1]["If-Modified-Since"] == "Sat, 21 Nov 2026 08:00:00 GMT"


def test_a_book_that_changed_is_fetched_anew(make, mirror):
    make().fetch(1342, quiet)
    mirror.books[1342] = b"Another edition altogether.\n"
    assert make().fetch(1342, quiet).data == b"Another edition altogether.\n"
    mirror.misbehaviour.append("always 500")
    assert make().fetch(1342, quiet).data == b"Another edition altogether.\n", "the new one is kept"


def test_what_is_kept_is_looked_for_where_it_came_from(make, mirror):
    mirror.end = "-8"
    make().fetch(1342, quiet)
    del mirror.asked[:]
    make().fetch(1342, quiet)
    assert [path for path, _ in mirror.asked] == ["/1/3/4/1342/1342-8.txt"]
    mirror.end = "cache"
    assert make().fetch(1342, quiet).url.endswith("/cache/epub/1342/pg1342.txt"), "it was moved"


@pytest.mark.parametrize("spoil", ["text", "about.json", "no text"])
def test_a_kept_file_that_was_spoilt_is_fetched_anew(make, mirror, tmp_path, spoil):
    make().fetch(1342, quiet)
    folder = tmp_path / "downloads" / "1342"
    if spoil == "no text":
        (folder / "text").unlink()
    else:
        (folder / spoil).write_bytes(b"{spoilt")
    assert make().fetch(1342, quiet).data == BOOK
    assert "If-None-Match" not in mirror.asked[-1][1]
    assert Downloads(tmp_path / "downloads").load(1342).data == BOOK


def test_without_a_network_the_kept_copy_serves(make, mirror):
    make().fetch(1342, quiet)
    book = make(address=refusing()).fetch(1342, quiet)
    assert book.data == BOOK
    assert book.notice.startswith("The copy kept here from 21 November 2026 was taken:")
    assert " reached" in book.notice


def refusing():
    """Return an address at which nobody answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_without_a_network_the_other_ways_in_are_told(make):
    address = refusing()
    with pytest.raises(SourceAway) as told:
        make(address=address).fetch(1342, quiet)
    said = str(told.value)
    for word in (address, "reached. Look", "RELIC_GUTENBERG", "RELIC_LIBRARY", "upload"):
        assert word in said
    assert "Errno" not in said
    assert said.index("upload") < said.index("RELIC_"), "the ways of the page first"
    with pytest.raises(SourceAway, match="not asked"):
        make().fetch(1342, quiet, offline=True)


def test_a_number_that_the_mirror_has_not_is_told(make, mirror):
    with pytest.raises(NotFound, match=r" 99.*gutenberg.org/ebooks/99;"):
        make().fetch(99, quiet)
    assert len(mirror.asked) == 4


@pytest.mark.parametrize("number", [0, -1, 10_000_000])
def test_a_number_that_cannot_be_asks_nobody(make, mirror, number):
    with pytest.raises(BadRequest, match="not a number"):
        make().fetch(number, quiet)
    assert mirror.asked == []


@pytest.mark.parametrize("how", ["broken off", "broken chunks", "500", "502"])
def test_an_answer_that_breaks_off_is_asked_for_again(make, mirror, tmp_path, how):
    mirror.misbehaviour += [how, how]
    assert make().fetch(1342, quiet).data == BOOK
    assert len(mirror.asked) == 3


@pytest.mark.parametrize("how", ["broken off", "broken chunks", "500"])
def test_an_answer_that_breaks_off_each_time_is_told_and_nothing_is_kept(make, mirror, tmp_path, how):
    mirror.misbehaviour.append(f"always {how}")
    with pytest.raises(SourceAway, match=r"broke off 3 times.*Nothing"):
        make().fetch(1342, quiet)
    assert len(mirror.asked) == 3
    assert Downloads(tmp_path / "downloads").load(1342) is None
    assert not list((tmp_path / "downloads").rglob("*.new"))


@pytest.mark.parametrize("status", ["429", "503"])
def test_a_busy_mirror_is_waited_for(make, mirror, status):
    mirror.misbehaviour.append(status)
    mirror.retry_after = "40"
    clock, notes = Clock(), []
    assert make(clock=clock).fetch(1342, notes.append).data == BOOK
    assert sum(clock.slept) == pytest.approx(40)
    assert any("40 seconds" in note for note in notes)


def test_a_busy_mirror_may_give_a_date_or_nothing(make, mirror):
    mirror.misbehaviour += ["503", "503"]
    mirror.retry_after = "Sat, 21 Nov 2026 08:00:30 GMT"
    clock = Clock()
    make(clock=clock).fetch(1342, quiet)
    assert sum(clock.slept) == pytest.approx(30), "the second time the date has passed"
    mirror.misbehaviour.append("503")
    mirror.retry_after = ""
    clock = Clock()
    make(clock=clock).fetch(1342, quiet)
    assert 5 < sum(clock.slept) < 30


def test_a_mirror_that_wants_a_long_pause_is_left_alone(make, mirror):
    mirror.misbehaviour.append("always 429")
    mirror.retry_after = "7200"
    clock = Clock()
    with pytest.raises(SourceAway, match="for 2 hours"):
        make(clock=clock).fetch(1342, quiet)
    assert clock.slept == []
    mirror.retry_after = "20"
    with pytest.raises(SourceAway, match="for 20 seconds"):
        make(clock=clock).fetch(1342, quiet)
    assert sum(clock.slept) == pytest.approx(60), "three short waits, and no more"


def test_a_wait_can_be_stopped(make, mirror):
    mirror.misbehaviour.append("always 429")
    mirror.retry_after = "50"
    clock = Clock()

    def stop(_note):
        if sum(clock.slept) > 5:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        make(clock=clock).fetch(1342, stop)
    assert sum(clock.slept) < 6


def test_a_web_page_in_the_place_of_the_text_is_refused(make, mirror, tmp_path):
    mirror.misbehaviour.append("always web page")
    with pytest.raises(SourceUnavailable, match=r"gave a web page.*sign in"):
        make().fetch(1342, quiet)
    assert Downloads(tmp_path / "downloads").load(1342) is None


def test_an_answer_made_to_take_for_ever_is_looked_at_at_once(make, mirror):
    """Of empty comments, every one more doubled the time."""
    mirror.books[1342] = b"<!---->" * 400 + b"Nobody counted the lanterns.\n"
    assert make().fetch(1342, quiet).data == mirror.books[1342]


def test_a_web_page_that_says_not_found_does_not_hide_the_text(make, mirror):
    mirror.misbehaviour.append("web page")
    mirror.end = "-0"
    assert make().fetch(1342, quiet).data == BOOK


def test_the_text_stays_as_it_was_sent_whatever_the_header_says_of_its_encoding(make, mirror):
    mirror.books[1342] = "Nobody was naïve in the café – not one.\n".encode("cp1252")
    mirror.content_type = "text/plain; charset=utf-16"
    assert make().fetch(1342, quiet).data == mirror.books[1342]


def test_a_slow_answer_comes_whole_and_can_be_stopped(make, mirror):
    mirror.misbehaviour.append("slow")
    calls = []
    assert make().fetch(1342, calls.append).data == BOOK
    assert len(calls) > 3

    def stop(_note):
        if len(mirror.asked) > 1:
            raise JobCancelled

    mirror.books[1342] = BOOK * 2
    mirror.misbehaviour.append("slow")
    with pytest.raises(JobCancelled):
        make().fetch(1342, stop)


def test_an_answer_without_an_end_is_given_up(make, mirror):
    mirror.misbehaviour.append("always endless")
    with pytest.raises(TextTooLarge, match="at most 100,000"):
        make(max_bytes=100_000).fetch(1342, quiet)
    clock = Clock()

    def dawdle(_note):
        clock.at += 1

    with pytest.raises(SourceAway, match="has not come to its end in 5 minutes"):
        make(clock=clock, max_bytes=10**9).fetch(1342, dawdle)


def test_a_book_that_says_it_is_too_large_is_not_fetched(make, mirror):
    with pytest.raises(TextTooLarge, match=f"has {len(BOOK):,} bytes"):
        make(max_bytes=1_000).fetch(1342, quiet)


def test_a_redirect_to_another_machine_is_not_followed(make, mirror):
    """Its text would be recorded as the mirror's, and it may be a service of this machine or its network."""
    other = mirror.address.replace("127.0.0.1", "localhost")
    assert other != mirror.address
    mirror.misbehaviour += [f"redirect {other}/cache/epub/1342/pg1342.txt"]
    with pytest.raises(SourceUnavailable):
        make().fetch(1342, quiet)
    assert len(mirror.asked) == 1


def test_a_download_whose_record_was_damaged_is_named_and_fetched_anew(make, mirror, tmp_path):
    make().fetch(1342, quiet)
    downloads = Downloads(tmp_path / "downloads")
    assert downloads.damaged() == []
    about = tmp_path / "downloads" / "1342" / "about.json"
    written = about.read_bytes()
    for at in range(0, len(written), 7):
        about.write_bytes(written[:at] + bytes([written[at] ^ 1]) + written[at + 1 :])
        assert downloads.damaged() == [about.parent] or json.loads(about.read_bytes()) == json.loads(written)
    assert make().fetch(1342, quiet).url.endswith("pg1342.txt")


def test_redirects_are_followed_a_few_times_and_within_the_web(make, mirror):
    elsewhere = f"redirect {mirror.address}/cache/epub/1342/pg1342.txt"
    mirror.misbehaviour += [elsewhere, "redirect /cache/epub/1342/pg1342.txt"]
    assert make().fetch(1342, quiet).data == BOOK
    mirror.books[1342] = BOOK * 2
    mirror.misbehaviour.append(f"always {elsewhere}")
    del mirror.asked[:]
    (kept,) = (make().fetch(1342, quiet),)
    assert "sent on more than 5 times" in kept.notice
    assert len(mirror.asked) == 6
    for where in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher:x"):
        mirror.misbehaviour[:] = [f"redirect {where}"]
        assert "not an address" in make().fetch(1342, quiet).notice


@pytest.mark.parametrize("deed", ["304", "fine"])
def test_what_is_no_answer_is_refused_and_nothing_is_kept(make, mirror, tmp_path, deed):
    mirror.misbehaviour.append(f"always {deed}")
    mirror.books[1342] = b""
    with pytest.raises(SourceUnavailable, match=r"which nobody asked|without a single byte"):
        make().fetch(1342, quiet)
    assert Downloads(tmp_path / "downloads").load(1342) is None


def test_a_file_without_bytes_does_not_hide_the_text(make, mirror):
    mirror.books[1342] = b""
    mirror.misbehaviour += ["fine", "redirect /cache/epub/7/pg7.txt"]
    mirror.books[7] = BOOK
    assert make().fetch(1342, quiet).data == BOOK


@pytest.mark.parametrize("date", ["9" * 400, "Sat, 21 Nov 9999 08:00:00 GMT", "Sat, 21 Nov 99999 08:00:00 GMT"])
def test_a_mirror_that_asks_for_ages_is_left_alone(make, mirror, date):
    mirror.misbehaviour.append("always 503")
    mirror.retry_after = date
    with pytest.raises(SourceAway, match=r"for (365 days|10 seconds)"):
        make().fetch(1342, quiet)


def test_a_refusal_is_told(make, mirror):
    mirror.misbehaviour.append("always 403")
    with pytest.raises(SourceUnavailable, match=r"refuses .*\(.* 403\)"):
        make().fetch(1342, quiet)


def test_at_most_one_request_goes_out_in_two_seconds(make, mirror):
    clock = Clock()
    mirror.end = ""  # four requests for one book
    make(clock=clock, pause=2.0).fetch(1342, quiet)
    assert sum(clock.slept) == pytest.approx(6)  # nothing came before the first
    make(clock=clock, pause=2.0).fetch(1342, quiet)
    assert sum(clock.slept) == pytest.approx(8), "another fetcher waits for what this one asked"
    clock.at += 30
    make(clock=clock, pause=2.0).fetch(1342, quiet)
    assert sum(clock.slept) == pytest.approx(8)


def test_redirects_and_second_tries_count_as_requests(make, mirror):
    clock = Clock()
    mirror.misbehaviour += ["redirect /cache/epub/1342/pg1342.txt", "broken off"]
    make(clock=clock, pause=2.0).fetch(1342, quiet)
    assert len(mirror.asked) == 3
    assert sum(clock.slept) == pytest.approx(4)


def test_a_clock_that_was_put_back_makes_nobody_wait_long(make):
    make(clock=Clock(), pause=2.0).fetch(1342, quiet)
    earlier = Clock(at=1_000_000_000.0)
    make(clock=earlier, pause=2.0).fetch(1342, quiet)
    assert sum(earlier.slept) == pytest.approx(2)


class Logged(Downloads):
    """Writes down the time of each request, of all processes in one file."""

    def write(self, path, data):
        super().write(path, data)
        if path.name == "last_request.json":
            with (self.folder / "log").open("a") as log:
                log.write(f"{json.loads(data)['at']}\n")


def _ask_often(folder, address, times):
    from relic_core.store import locks

    def turn(while_waiting):
        return locks.held(folder / "turn.lock", while_waiting=while_waiting)

    downloads = Logged(folder)
    gate = Gate(downloads, 0.15, turn)
    for _ in range(times):
        Gutenberg(address, downloads, gate).fetch(1342, quiet)


def test_processes_share_one_pause(tmp_path, mirror):
    folder = tmp_path / "downloads"
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_ask_often, args=(folder, mirror.address, 3)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    times = [float(line) for line in (folder / "log").read_text().splitlines()]
    assert len(times) == len(mirror.asked) == 6
    assert all(later - earlier > 0.149 for earlier, later in itertools.pairwise(times))


def test_a_folder_that_cannot_be_written_is_told(make, tmp_path):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads").chmod(0o500)
    with without_privileges(), pytest.raises(StoreReadOnly, match=r"written \(Permission denied\)"):
        make().fetch(1342, quiet)


def _keep(folder, times):
    downloads = Downloads(folder)
    for number in range(times):
        downloads.write(folder / "1" / "text", bytes([number % 256]) * 200_000)


def test_two_processes_that_keep_one_book_do_not_fail_each_other(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_keep, args=(tmp_path, 300)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert [path.name for path in (tmp_path / "1").iterdir()] == ["text"]


def test_what_was_kept_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    downloads = Downloads(tmp_path)
    old = Book(number=1, data=b"old", url="http://x/1", fetched=datetime.now(UTC))
    downloads.save(old)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    with pytest.raises(StoreReadOnly, match=r"No space left on device.*Make room"):
        downloads.save(replace(old, data=b"new"))
    monkeypatch.undo()
    assert downloads.load(1) == old
