"""What is kept in memory: the last that were asked for, up to a number of bytes."""

from __future__ import annotations

import contextlib
import threading
import time

from relic_core.caching import LRUCache


def test_what_is_kept_is_not_made_again():
    kept = LRUCache(100, len)
    assert kept.get("a", lambda: b"first") is kept.get("a", lambda: b"second")


def test_what_was_asked_for_longest_ago_goes_first():
    kept = LRUCache(3, len)
    for key in ("a", "b", "c", "a", "d"):
        kept.get(key, lambda: b"1")
    assert kept.get("a", lambda: b"2") == b"1"
    assert kept.get("b", lambda: b"2") == b"2"
    assert kept.size == 3


def test_one_thing_is_kept_however_large():
    kept = LRUCache(3, len)
    kept.get("small", lambda: b"1")
    assert kept.get("large", lambda: b"12345678") is kept.get("large", lambda: b"")
    assert kept.size == 8


def test_what_could_not_be_made_is_asked_for_again():
    kept = LRUCache(3, len)
    for _ in range(2):
        try:
            kept.get("a", lambda: 1 / 0)
        except ZeroDivisionError:
            continue
        raise AssertionError
    assert kept.get("a", lambda: b"1") == b"1"


def test_threads_that_ask_for_the_same_make_it_once():
    kept, made = LRUCache(100, len), []

    def make():
        time.sleep(0.02)
        made.append(1)
        return b"1"

    threads = [threading.Thread(target=kept.get, args=("a", make)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_what_is_being_made_is_not_made_again_however_much_is_made_meanwhile():
    kept, made = LRUCache(1, len), []
    second = threading.Thread(target=lambda: kept.get("slow", make))

    def make():
        made.append(1)
        for key in ("other", "third"):
            kept.get(key, lambda: b"12345678")
        if not second.ident:
            second.start()
        time.sleep(0.02)
        return b"1"

    kept.get("slow", make)
    second.join()
    assert made == [1]


def test_what_could_not_be_made_leaves_room_for_who_waited():
    kept, tried = LRUCache(3, len), threading.Event()

    def fail():
        tried.set()
        time.sleep(0.02)
        raise ValueError

    def ask():
        with contextlib.suppress(ValueError):
            kept.get("a", fail)

    first = threading.Thread(target=ask)
    first.start()
    tried.wait()
    assert kept.get("a", lambda: b"1") == b"1"
    first.join()
    assert kept.get("a", lambda: b"2") == b"1"
    assert kept.size == 1
