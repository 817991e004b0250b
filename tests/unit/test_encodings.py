"""Files in one-byte encodings of DOS, Macs and central Europe are told apart; where that is not sure, two readings."""

from __future__ import annotations

import pytest

from relic_core.text.decoding import decode, other_reading

SAID = {
    "French": "Léa était très fâchée : le garçon à la fenêtre ne répondit pas à sa mère.",
    "German": "Die Fähre lag still, und über dem Fluß hörte man die Mühle; später fuhr Müller fort.",
    "Spanish": "La señora soñó que el niño volvía después de la lluvia, y nadie oyó la campana más allá.",
    "Polish": "Wszyscy mówili, że książka jest piękna, ale żadna z nich nie chciała jej wziąć; przyszła łódź.",
    "Czech": "Všichni říkali, že kniha je krásná, ale žádný ji nechtěl vzít; přišel člověk a měšťan.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *[(each, code) for each in ("French", "German", "Spanish") for code in ("cp1252", "cp850", "cp437")],
        ("French", "mac-roman"),
        *[(each, code) for each in ("Polish", "Czech") for code in ("iso8859-2", "cp1250")],
    ],
)
def test_letters_come_out_as_they_were_written(language, encoding):
    written = f"{SAID[language]}\n" * 3
    assert decode(written.encode(encoding), max_bytes=10_000) == written


@pytest.mark.parametrize(
    ("encoding", "sign"),
    [
        ("cp850", "Über Øre und São João, à Èze et À Paris."),
        ("cp437", "╒══════╕\n│ Fähre│\n╘══════╛"),
        ("cp850", "§ 3 der Fähre nach Èze"),
    ],
)
def test_the_encodings_of_dos_are_told_apart_by_what_only_one_of_them_has(encoding, sign):
    written = f"{SAID['German']}\n" * 3 + f"{sign}\n"
    assert decode(written.encode(encoding), max_bytes=10_000) == written
    assert not other_reading(written.encode(encoding))


def test_where_both_of_dos_could_be_meant_the_reader_is_asked():
    said = other_reading((f"{SAID['German']}\n" * 3 + "Der Winkel α wuchs.\n").encode("cp437"))
    assert "Winkel α" in said
    assert "Winkel Ó" in said


def test_english_with_curly_marks_stays_cp1252_and_is_sure():
    written = "“It’s a café,” he said—“and naïve…” The rôle of Brontë’s curé.\n"
    data = written.encode("cp1252")
    assert decode(data, max_bytes=1_000) == written
    assert other_reading(data) == other_reading(written.encode()) == other_reading(b"plain") == ""


def test_where_it_is_not_sure_two_readings_are_given():
    data = "Nobody knew the café.\n".encode("cp1252") + "Nobody saw the garçon à côté.\n".encode("cp850")
    assert "“" in (said := other_reading(data))
    assert "cp1252" in said
    assert "cp850" in said


def test_a_reader_is_asked_when_the_file_is_added(bench):
    data = "The naïve boy saw the garden.\n".encode("cp1252") * 2 + "The garçon went home.\n".encode("cp850")
    assert "UTF-8" in bench.works.preview(data, name="boy.txt").notice
    assert bench.works.add(data, name="boy.txt").notice
