"""All that reads a file from outside or from our own disk, each with a whole file of its kind."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from relic_core.cli.assistants import Tools, serving
from relic_core.config import ASSETS, Settings
from relic_core.domain import SearchRequest
from relic_core.domain.drafts import Draft, DraftReport, QuotationCheck
from relic_core.domain.trainings import MODEL_KINDS, ModelKind
from relic_core.drafts.reading import ENDINGS, read_draft
from relic_core.echoes import measuring, scoring
from relic_core.encoders import kinds, peft_files
from relic_core.encoders.cards import facts_of_folder, read_card, read_reranker
from relic_core.encoders.weights import read_layers_card
from relic_core.errors import BadRequest
from relic_core.evaluation.sentences import read_list
from relic_core.formats import attribution, birco, judged, places, relic, run_files, trec, window_manifest
from relic_core.formats.backups import MANIFEST
from relic_core.formats.envelope import Envelope
from relic_core.language_models import parsing, server
from relic_core.library import catalogue
from relic_core.library.gutenberg import Downloads, Gate
from relic_core.library.reading import read_edition
from relic_core.library.secondary import SourceTable, list_sources, read_source, text_of
from relic_core.mining.quoted_works import MANIFEST as QUOTED
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.runs import Places
from relic_core.mining.word_runs import HeldOut
from relic_core.ports import silent
from relic_core.retrieval import calibration, index_files
from relic_core.services import backups, models
from relic_core.store import run_journal, swapping
from relic_core.store.jobs import JobFolder
from relic_core.studies.spans import read_pairs
from relic_core.training import checkpoints, estimates
from relic_core.training.folders import TrainingFolder
from relic_core.training.recipes import EncoderRecipe, recipe_of
from relic_core.wiring import App
from tools.reliability.mutants import Signs


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What reads one kind of file, with a whole one.

    - `sign`: makes its digests anew, where it has any.
    - `refuses`: what it may raise beside the program's own errors.
    """

    name: str
    whole: bytes
    read: Callable[[bytes], object]
    of_json: bool = True
    sign: Signs | None = None
    refuses: tuple[type[Exception], ...] = ()


def every(app: App, folder: Path) -> Iterator[Reader]:
    """Make a whole file of each kind, of a library with the sample in it, and give all that reads one."""
    work = app.works.summaries()[0]
    yield from _of_other_people(app, folder)
    yield from _of_studies(app)
    yield from _of_models(folder)
    yield from _of_the_library(app, folder, work.id)
    yield from _of_our_own(app, folder, work.id)
    yield from _of_folders_of_models(folder)
    yield from _archives(app, folder)
    yield from _documents(app, folder, work.id)
    if find_spec("mcp") is not None:
        yield from _arguments(app, work.id)


def _of_other_people(app: App, folder: Path) -> Iterator[Reader]:
    read: Callable[..., object]
    work = app.works.summaries()[0]
    app.notebook.keep(work.id, "1.1.1", 1, claim_text="A lamp")
    yield Reader(
        name="a notebook",
        whole=app.notebook_files.export(),
        read=app.notebook_files.take_in,
        sign=_signed_by("notebook", ("collections",)),
    )
    request = SearchRequest(work_id=work.id, claim_text="A lamp", retrievers=("bm25",))
    shared = app.sharing.share("s", request)
    yield Reader(
        name="a search",
        whole=shared.file,
        read=lambda data: app.sharing.open_file(data, "it"),
        sign=_signed_by("search", ("search",), ordered=False),
    )
    yield Reader(
        name="the address of a search",
        whole=shared.code.encode(),
        read=_words(app.sharing.open_code),
        of_json=False,
    )
    run = min((ASSETS / "results").glob("*.json"), key=lambda path: path.stat().st_size)
    yield Reader(
        name="a run", whole=run.read_bytes(), read=_file(folder / "run.json", app.runs.take_in), sign=_sign_run
    )
    for name, whole, read in (
        ("rankings of BIRCO", {"q1": ["a", "b"], "q2": ["b"]}, birco.read_rankings),
        ("a list of sentences", ["One.", "Two."], read_list),
        ("books of RELiC", _BOOKS, relic.read_relic),
        ("queries of attribution", _QUERIES, attribution.read_queries),
    ):
        yield Reader(name=name, whole=json.dumps(whole).encode(), read=_file(folder / "given.json", read))
    rows: dict[str, list[dict[str, Any]]] = {
        "queries": _ASKED,
        "passages": [{"id": "a", "text": "One."}],
        "pools": _POOLS,
    }
    for name, own in rows.items():
        at = folder / f"judged-{name}"
        at.mkdir()
        for each, lines in rows.items():
            (at / f"{each}.jsonl").write_bytes(_lines(lines))
        read_folder = _file(at / f"{name}.jsonl", lambda path: judged.read_folder(path.parent))
        yield Reader(name=f"judged {name}", whole=_lines(own), read=read_folder)
    trecs: tuple[tuple[str, bytes, Callable[..., object]], ...] = (
        ("a ranking of TREC", b"q1 Q0 d1 1 2.5 tag\n", trec.read_run),
        ("grades of TREC", b"q1 0 d1 1\n", trec.read_qrels),
    )
    for name, line, read in trecs:
        yield Reader(name=name, whole=line, read=_file(folder / "trec.txt", read), of_json=False)
    yield Reader(
        name="pairs of passages",
        whole=_lines([{"passage": "The dark lamp.", "anchor": "lamp", "target": "A lamp.", "id": "1"}] * 2),
        read=_words(lambda text: read_pairs(text, "it")),
    )
    echoes = folder / "echoes"
    echoes.mkdir()
    (echoes / "verses.jsonl").write_bytes(_lines(_VERSES))
    asked = [{"text": "In the beginning.", "gold": ["gen_1_1"], "kind": "quotation"}]
    yield Reader(
        name="known echoes",
        whole=_lines(asked),
        read=_file(echoes / "queries.jsonl", lambda path: measuring.read(path.parent)),
    )
    yield Reader(
        name="a table of sources",
        whole=b'file,title,author,number\n1.txt,"A, B",C,138\n',
        read=lambda data: SourceTable().add(data),
        of_json=False,
    )
    manifest = next((ASSETS.rglob(window_manifest.FACTS)), None)
    if manifest is not None:
        at = shutil.copytree(manifest.parent, folder / "windows")
        yield Reader(
            name="a list of windows",
            whole=manifest.read_bytes(),
            read=_file(at / manifest.name, lambda path: window_manifest.read_sets(path.parent)),
        )
    for name, answer, read in (
        ("a model's score", '{"score": 7}', parsing.read_score),
        ("a model's criteria", '{"criteria": ["one", "two"]}', parsing.read_criteria),
        ("a model's order", '{"order": ["T2", "T1"]}', lambda text: parsing.read_order(text, 2)),
        ("a model's conditions", f'{{"claims": [{_CLAIM}, {_CLAIM}]}}', parsing.read_split),
        ("a model's passages", '{"passages": ["One.", "Two."]}', parsing.read_passages),
    ):
        yield Reader(name=name, whole=answer.encode(), read=_words(read), refuses=(ValueError,))


_CLAIM = '{"joined": "and", "claim": "one"}'
_BOOKS = {
    "A": {
        "sentences": ["One. ", "Two. ", "Three. ", "Four. ", "Five. "],
        "candidates": {f"{length}_sentence": list(range(6 - length)) for length in range(1, 6)},
        "quotes": {"1": [["Left."], 1, 1, ["Right."]]},
    }
}
_QUERIES = {
    "id": "1",
    "query": "As he says here",
    "span": [3, 7],
    "source": "s",
    "sources": [{"id": "s", "author": "B", "title": "C", "text": "D."}],
}
_ASKED = [{"id": "q", "text": "A [masked sentence(s)]"}]
_POOLS = [{"query_id": "q", "candidates": ["a"], "relevant": ["a"]}]
_VERSES = [{"id": "gen_1_1", "text": "In the beginning."}, {"id": "gen_1_2", "text": "And the earth."}]


def _of_studies(app: App) -> Iterator[Reader]:
    study = app.studies.all()
    if not study:
        return
    study_id = study[0].id
    who = app.answering.join(study_id, "Ada")
    item = app.studies.study(study_id).items[0]
    app.answering.answer(study_id, who.id, item.id, 1, seconds=9.0, comment="Sure.")

    def take_in(data: bytes) -> None:
        taken, new = app.study_files.take_in(data, "it")
        app.study_files.report(taken.id)
        if new:
            app.studies.remove(taken.id)

    yield Reader(name="a study", whole=app.study_files.export(study_id), read=take_in, sign=_sign_study)
    yield Reader(
        name="answers to a study",
        whole=app.study_files.answers_json(study_id, anonymous=False),
        read=lambda data: app.study_files.take_in_answers(study_id, data, of="Elsewhere", name="it"),
    )


def _of_models(folder: Path) -> Iterator[Reader]:
    read: Callable[..., object]
    recipe = EncoderRecipe()
    yield Reader(
        name="a recipe",
        whole=json.dumps(recipe.to_json()).encode(),
        read=_file(folder / "recipe.json", lambda path: recipe_of(str(path))),
    )
    shutil.copytree(ASSETS / "weights" / "dense-relic", folder / "model-encoder", symlinks=True)
    for name, card, read in (
        ("the card of an encoder", "dense-relic/encoder.json", lambda path: read_card(str(path))),
        ("the card of a reranker", "reranker/reranker.json", lambda path: read_reranker(path.parent)),
        ("the card of layers", "reranker/layers.json", read_layers_card),
    ):
        at = folder / f"model-{Path(card).stem}"
        at.mkdir(exist_ok=True)
        yield Reader(name=name, whole=(ASSETS / "weights" / card).read_bytes(), read=_file(at / Path(card).name, read))
    at = folder / "calibrated"
    at.mkdir()
    yield Reader(
        name="a calibration",
        whole=(ASSETS / "weights" / "dense-relic" / calibration.FILE).read_bytes(),
        read=_file(at / calibration.FILE, lambda path: calibration.beside(str(path.parent))),
        sign=_signed_by("calibration", ("model", "strength", "joined", "fusion")),
    )
    chosen: dict[str, Any] = {"version": 2, "chosen": [dict.fromkeys(MODEL_KINDS)]}
    chosen["chosen"][0]["encoder"] = {"training": "abcdefgh", "name": "A", "digest": "d", "at": _NOW}
    yield Reader(
        name="the choice of models",
        whole=json.dumps(chosen).encode(),
        read=_file(models.choices_file(folder), lambda path: models.default(path.parent, _NO_MODELS)),
    )
    training = TrainingFolder.create(folder, name="A", recipe=recipe.to_json(), asked={})
    for name, read in (
        ("asked.json", lambda _: training.training),
        ("examples.json", lambda _: training.examples()),
        ("journal.jsonl", lambda _: (training.events(), training.checkpoint)),
    ):
        if name == "examples.json":
            training.write_examples({"pairs": [], "windows": [], "validation": [], "held": [], "hard": []})
        if name == "journal.jsonl":
            training.append("began", 1, loss=0.5)
            training.append("checkpoint", 2)
        path = training.path / name
        yield Reader(name=f"a training's {name}", whole=path.read_bytes(), read=_file(path, read))
    origin = checkpoints.Origin(
        recipe=recipe.to_json(), recipe_digest="r", data_digest="d", base_digest="b", start_digest="", processes=1
    )
    point = folder / "points" / "checkpoint-1"
    point.mkdir(parents=True)
    checkpoints.seal(point, origin, {"step": 1})
    yield Reader(
        name="a checkpoint",
        whole=(point / checkpoints.MANIFEST).read_bytes(),
        read=_file(point / checkpoints.MANIFEST, lambda path: checkpoints.last_good(path.parent.parent, origin)),
    )


_NO_MODELS: dict[ModelKind, str] = dict.fromkeys(MODEL_KINDS, "")
_NOW = datetime(2026, 11, 28, tzinfo=UTC).isoformat()


def _of_the_library(app: App, folder: Path, work_id: str) -> Iterator[Reader]:
    settings = 'lock_seconds = 3.0\ndata = "here"\nmax_text_bytes = 1_000\n'
    yield Reader(
        name="a file of settings",
        whole=settings.encode(),
        read=_file(folder / "relic.toml", lambda path: Settings.from_environment({"RELIC_CONFIG": str(path)})),
        of_json=False,
    )
    backup = folder / "whole.zip"
    app.backups.make(backup, silent, force=True)
    with zipfile.ZipFile(backup) as whole:
        manifest = whole.read(MANIFEST)
    yield Reader(name="the manifest of a back-up", whole=manifest, read=lambda data: _check(app, backup, data))
    job, _ = JobFolder.create(folder / "jobs", kind="index", title="A", subject="b", arguments={"work": "w"})
    job.append(state="running", note="It runs.")
    job.append(done=1, total=2)
    for name in ("job.json", "journal.jsonl"):
        read = _file(job.path / name, lambda _: job.job())
        yield Reader(name=f"a job's {name}", whole=(job.path / name).read_bytes(), read=read)
    marker = {"staged": "s", "aside": "a", "store": "relic.duckdb", "old": ["x"], "new": ["y"]}
    yield Reader(
        name="what a restore left to do",
        whole=json.dumps(marker).encode(),
        read=_file(folder / swapping.MARKER, swapping._decided),  # noqa: SLF001 - without moving anything
    )
    number = folder / "downloads" / "138"
    number.mkdir(parents=True)
    (number / "text").write_bytes(b"")
    about = {"url": "https://example.org/138", "etag": "", "last_modified": "", "fetched": _NOW, "sha256": _NOTHING}
    yield Reader(
        name="what is known of a download",
        whole=json.dumps(about).encode(),
        read=_file(number / "about.json", lambda path: Downloads(path.parent.parent).load(138)),
    )
    app.search.run(SearchRequest(work_id=work_id, claim_text="lamp", retrievers=("bm25",)), at_once=True)
    made = next(app.settings.indexes.glob("*/*/*/manifest.json"), None)
    if made is not None:
        root = folder / "indexes"
        at = shutil.copytree(made.parent, root / made.parent.relative_to(app.settings.indexes))
        retriever, work = made.parts[-4:-2]
        yield Reader(
            name="the manifest of an index",
            whole=made.read_bytes(),
            read=_file(at / made.name, lambda _: index_files.manifests(root, retriever, work)),
            sign=_signed_index,
        )
    quoted = QuotedWorks.build([app.works.load(work_id)], folder / "quoted", silent).folder
    yield Reader(
        name="the manifest of the quoted works",
        whole=(quoted / QUOTED).read_bytes(),
        read=_file(quoted / QUOTED, lambda path: QuotedWorks.open(path.parent)),
        sign=_signed_quoted,
    )
    drafts = app.settings.data / "drafts"
    named = "a" * 32
    draft = drafts / named
    draft.mkdir(parents=True, exist_ok=True)
    (draft / "owner").write_text("")
    report = app.drafts.check(Draft("He says “The lamp stood on the quay.” And goes."))
    (draft / "draft.json").write_text(json.dumps(asdict(Draft("He says."))))
    app.drafts.choose(named, 0, work_id, "1.1.1", 1)
    (draft / "report.json").write_bytes(TypeAdapter(DraftReport).dump_json(report))
    shutil.copytree(draft, draft.with_name(other := "b" * 32), dirs_exist_ok=True)
    (draft / "report.json").unlink()
    (draft / "checks.jsonl").write_bytes(
        b"".join(TypeAdapter(QuotationCheck).dump_json(each) + b"\n" for each in report.checks)
    )
    for owner, name in ((named, "draft.json"), (named, "checks.jsonl"), (other, "chosen.json"), (other, "report.json")):
        path = drafts / owner / name
        yield Reader(name=f"a draft's {name}", whole=path.read_bytes(), read=_file(path, partial(_draft, app, owner)))


_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def _draft(app: App, draft: str, path: Path) -> object:
    del path
    return app.drafts.get(draft)


def _of_our_own(app: App, folder: Path, work_id: str) -> Iterator[Reader]:
    layer = ASSETS / "places.json"
    yield Reader(
        name="the layer of places",
        whole=layer.read_bytes(),
        read=_file(folder / layer.name, places.read_layer.__wrapped__),
        sign=_signed_places,
    )
    (folder / "public").mkdir()
    rows = folder / "public" / window_manifest.ROWS
    shutil.copyfile(ASSETS / "public_relic" / window_manifest.FACTS, rows.with_name(window_manifest.FACTS))
    yield Reader(
        name="rows of windows",
        whole=(ASSETS / "public_relic" / rows.name).read_bytes(),
        read=_file(rows, lambda path: window_manifest.read_manifest(path.parent)),
        of_json=False,
    )
    texts = folder / "texts.parquet"
    window_manifest.write_texts(texts, [("1", window_manifest.WindowText(("One.",), "Two.", ("Three.",)))], "d")
    yield Reader(
        name="words of windows",
        whole=texts.read_bytes(),
        read=_file(texts, window_manifest.read_texts),
        of_json=False,
    )
    counted = scoring.Counted.of(["A lamp on the quay."])
    two = scoring.Two(counted, counted)
    yield Reader(
        name="vectors of words",
        whole=b"2 3\nlamp 0.1 0.2 0.3\nquay 0.3 0.2 0.1\n",
        read=_file(folder / "vectors.txt", lambda path: scoring.read_vectors(path, two)),
        of_json=False,
    )
    wordnet = folder / "wordnet"
    wordnet.mkdir()
    for path in scoring.wordnet_files(wordnet):
        path.write_bytes(b"")
    database = {
        "index.noun": b"lamp n 1 1 @ 1 0 00000001  \n",
        "data.noun": b"00000001 06 n 01 lamp 0 001 @ 00000002 n 0000 | a light\n",
    }
    for name, line in database.items():
        (wordnet / name).write_bytes(line)
    for name, line in database.items():
        read = _file(wordnet / name, lambda path: scoring.wordnet_vectors(path.parent, two))
        yield Reader(name=f"WordNet's {name}", whole=line, read=read, of_json=False)
    mined = Places(folder / "mined", rules="r", works=[work_id], pairs=True)
    (folder / "mined" / "one").mkdir(parents=True)
    yield Reader(
        name="what was mined of a source",
        whole=json.dumps({"asked": mined._asked, "file": "f"}).encode(),  # noqa: SLF001 - as it is written
        read=_file(folder / "mined" / "one" / "volume.json", lambda _: mined.done()),
    )
    yield Reader(
        name="a list of runs held out",
        whole=b"0123456789ab\nba9876543210\n",
        read=_file(folder / "held-out.txt", HeldOut.read),
        of_json=False,
    )
    yield Reader(
        name="a catalogue",
        whole=b"".join(catalogue.FILE.read_bytes().splitlines(keepends=True)[:4]),
        read=_file(folder / "catalogue.csv", catalogue.read_entries),
        of_json=False,
    )
    gate = Gate(Downloads(folder / "downloads"), 0.001, lambda _: nullcontext(), sleep=lambda _: None)
    yield Reader(
        name="when a mirror was asked last",
        whole=b'{"at": 1.0}',
        read=_file(folder / "downloads" / "last_request.json", lambda _: gate.wait(lambda: None)),
    )
    outcome = ["outcome", 0.5, ["q", 1, 2, 3], {"tokens": 1}]
    run = json.loads(min((ASSETS / "results").glob("*.json"), key=lambda path: path.stat().st_size).read_bytes())
    outcome[2] = run["outcomes"][0]
    yield Reader(
        name="how far a run has come",
        whole=json.dumps([{"format": run_journal.FORMAT, "code": "c"}, ["work", "w", "f", ["i"], 3], outcome]).encode(),
        read=partial(_journal, folder / "run.jsonl"),
    )
    yield Reader(
        name="the machines that a model may be asked on",
        whole=b"one.example\ntwo.example\n",
        read=_file(app.settings.data / server._ALLOWED, lambda _: server._allowed(app.settings)),  # noqa: SLF001 - as asked
        of_json=False,
    )
    (folder / "begun").mkdir()
    yield Reader(
        name="what a back-up began",
        whole=str(folder / "begun" / "back-up.zip").encode(),
        read=_file(folder / "begun" / f"{backups._BEGUN}1", lambda path: backups.leftovers(path.parent)),  # noqa: SLF001 - its name
        of_json=False,
    )


def _journal(path: Path, data: bytes) -> None:
    """Open the journal of a run with these lines, each with a digest that agrees."""
    try:
        lines = json.loads(data)
    except (ValueError, RecursionError):
        lines = data
    if isinstance(lines, list):
        path.write_bytes(b"".join(map(run_journal._written, lines)))  # noqa: SLF001 - as it is written
    else:
        path.write_bytes(data)
    with run_journal.RunJournal(path, {"code": "c"}).opened(lambda _: True, lambda _: None, examples=1):
        pass


def _of_folders_of_models(folder: Path) -> Iterator[Reader]:
    read: Callable[..., object]
    at = shutil.copytree(ASSETS / "weights" / "dense-relic", folder / "a-model", symlinks=True)
    (at / "encoder.json").unlink()
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    pooling = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
    (at / "modules.json").write_text(json.dumps([*modules, pooling]))
    (at / "1_Pooling").mkdir()
    (at / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (at / "config.json").write_text('{"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8}')
    adapters = {"peft_type": "LORA", "base_model_name_or_path": "b", "r": 8, "lora_alpha": 16}
    beside = folder / "adapters"
    beside.mkdir()
    (beside / peft_files.ADAPTERS).write_bytes(b"")
    head = json.dumps({"a.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
    weights = at / "model.safetensors"
    weights.unlink(missing_ok=True)
    weights.write_bytes(len(head).to_bytes(8, "little") + head + bytes(16))
    for name, read in (
        ("config.json", lambda path: (kinds.check_encoder(path.parent), facts_of_folder(path.parent))),
        ("modules.json", lambda path: (kinds.check_encoder(path.parent), facts_of_folder(path.parent))),
        ("1_Pooling/config.json", lambda path: facts_of_folder(path.parent.parent)),
    ):
        yield Reader(name=f"a model's {name}", whole=(at / name).read_bytes(), read=_file(at / name, read))
    yield Reader(
        name="the settings of adapters",
        whole=json.dumps(adapters).encode(),
        read=_file(beside / "adapter_config.json", lambda path: peft_files.peft_base(path.parent)),
    )

    def sized(path: Path) -> object:
        return kinds.check_encoder(path.parent), estimates._sizes(path)  # noqa: SLF001 - what it weighs

    through = _file(weights, sized)
    yield Reader(name="a file of weights", whole=weights.read_bytes(), read=through, of_json=False)
    yield Reader(
        name="the head of a file of weights",
        whole=head,
        read=lambda data: through(len(data).to_bytes(8, "little") + data + bytes(16)),
    )


def _archives(app: App, folder: Path) -> Iterator[Reader]:
    backup = folder / "given.zip"
    app.backups.make(backup, silent, force=True)
    yield Reader(
        name="a back-up",
        whole=backup.read_bytes(),
        read=_file(backup, lambda path: app.backups.check(path, silent)),
        of_json=False,
    )
    sources = io.BytesIO()
    with zipfile.ZipFile(sources, "w") as archive:
        archive.writestr("1.txt", "He says that the lamp stood on the quay.\n" * 9)
        archive.writestr("sources.csv", "file,title,author,number\n1.txt,A,C,138\n")

    def read_all(path: Path) -> None:
        for file in list_sources(path):
            text_of(read_source(file), name=file.name)

    yield Reader(
        name="an archive of sources",
        whole=sources.getvalue(),
        read=_file(folder / "sources.zip", read_all),
        of_json=False,
    )
    yield Reader(name="a work as work.epub", whole=_epub(), read=partial(read_edition, name="work.epub"), of_json=False)


def _epub() -> bytes:
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>I</h1><p>The lamp stood there.</p></body></html>"
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A</dc:title></metadata><manifest><item id="a" '
        'href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile '
        'full-path="a.xml" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("a.xml", package)
        archive.writestr("a.xhtml", page)
    return made.getvalue()


def _documents(app: App, folder: Path, work_id: str) -> Iterator[Reader]:
    del folder, work_id
    prose = "He says “The lamp stood on the quay, and nobody lit it.” And goes on (12)."
    page = f"<html><body><p>{prose}</p><blockquote>The lamp stood.</blockquote></body></html>"
    texts: dict[str, str | bytes] = {
        ".md": f"# A\n\n{prose}\n\n> The lamp stood.\n\nA note.[^1]\n\n[^1]: Here.\n",
        ".txt": prose,
        ".html": page,
        ".tex": rf"\documentclass{{article}}\begin{{document}}{prose}\begin{{quote}}Lamp.\end{{quote}}\end{{document}}",
        ".odt": _odt(prose),
        ".docx": app.drafts.written(app.drafts.check(Draft(prose)), ".docx"),
    }
    for ending in ENDINGS:
        if ending in texts:
            text = texts[ending]
            whole = text if isinstance(text, bytes) else text.encode()
            read = partial(read_draft, name=f"draft{ending}")
            yield Reader(name=f"a draft as {ending}", whole=whole, read=read, of_json=False)
    tei = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>A</title></titleStmt>'
        f"</fileDesc></teiHeader><text><body><div><head>I</head><p>{prose}</p></div></body></text></TEI>"
    )
    for name, written in (("work.txt", f"CHAPTER I\n\n{prose}\n\n" * 3), ("work.xml", tei)):
        yield Reader(
            name=f"a work as {name}", whole=written.encode(), read=partial(read_edition, name=name), of_json=False
        )


def _arguments(app: App, work_id: str) -> Iterator[Reader]:
    from mcp.server.mcpserver.exceptions import ToolError

    server = serving(Tools(app, ""), keep=True)
    given: dict[str, dict[str, Any]] = {
        "list_works": {"page": 1},
        "find_evidence": {"claim": "A lamp", "work": work_id, "length": 1, "how_many": 5, "page": 1},
        "check_quotation": {"quotation": "The lamp stood on the quay.", "work": work_id},
        "read_passage": {"work": work_id, "at": "1.1.1", "sentences": 2},
        "find_word": {"word": "lamp", "work": work_id, "forms": True, "variants": True, "page": 1},
        "cite": {"work": work_id, "at": "1.1.1", "sentences": 1, "style": "mla"},
        "who_quotes": {"work": work_id, "at": "1.1.1", "sentences": 1, "page": 1},
        "keep_note": {"work": work_id, "at": "1.1.1", "sentences": 1, "claim": "A", "words": "B", "tags": ["c"]},
    }

    def call(name: str, data: bytes) -> None:
        try:
            arguments = json.loads(data)
        except (ValueError, RecursionError):
            return  # the protocol's own reader refuses it
        if not isinstance(arguments, dict):
            return
        try:
            with ThreadPoolExecutor(1) as thread:  # where a browser is driven, this one has a loop already
                thread.submit(asyncio.run, server.call_tool(name, arguments)).result()
        except ToolError as error:
            if type(error) is not ToolError:
                raise error.__cause__ or error from error
            raise BadRequest(str(error)) from None

    for name, arguments in given.items():
        read = partial(call, name)
        yield Reader(name=f"an assistant's {name}", whole=json.dumps(arguments).encode(), read=read)


def _file(path: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Give a reader of bytes that writes them to a file and reads it."""

    def through(data: bytes) -> object:
        before = path.read_bytes() if path.exists() else b""
        path.write_bytes(data)
        try:
            return read(path)
        finally:
            path.write_bytes(before)

    return through


def _words(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "replace"))


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _check(app: App, backup: Path, manifest: bytes) -> object:
    """Check a back-up with another manifest in it."""
    other = backup.with_name("other.zip")
    with zipfile.ZipFile(backup) as whole, zipfile.ZipFile(other, "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, manifest if name == MANIFEST else whole.read(name))
    return app.backups.check(other, silent)


def _odt(prose: str) -> bytes:
    content = (
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        f'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:p>{prose}</text:p>'
        "</office:text></office:body></office:document-content>"
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    return made.getvalue()


def _signed_by(what: str, keys: tuple[str, ...], *, ordered: bool = True) -> Signs:
    file = Envelope(what, 1, keys, {}, sorted=ordered)

    def sign(whole: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - as read from JSON
        before = whole["sha256"]
        whole["sha256"] = file.digest({key: whole[key] for key in keys})
        return [(before, whole["sha256"])]

    return sign


def _sign_study(whole: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - as read from JSON
    from relic_core.domain.studies import study_id
    from relic_core.formats.studies import study_of

    facts = dict(whole["study"])
    before = facts["id"]
    study = study_of(facts, facts.pop("items"), "it")
    making = study.making
    named = study_id(name=study.name, version=study.version, seed=making.seed, items=study.items, shared=making.shared)
    whole["study"]["id"] = named
    return [(before, named), *_signed_by("study", ("study", "terms"))(whole)]


def _sign_run(whole: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - as read from JSON
    from relic_core.domain import ContextSize
    from relic_core.evaluation.experiments import run_id

    names = ("benchmark", "split", "data_hash", "retriever", "configuration")
    before = whole["id"], whole["sha256"]
    shape = ContextSize.parse(whole["shape"])
    whole["id"] = run_id(**{name: whole[name] for name in names}, shape=shape)
    content = {key: value for key, value in whole.items() if key not in {"format", "sha256", "outcomes"}}
    whole["sha256"] = run_files._digest(content, whole["outcomes"])  # noqa: SLF001 - a file as it would be forged
    return list(zip(before, (whole["id"], whole["sha256"]), strict=True))


def _signed_places(whole: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - as read from JSON
    before = whole["digest"]
    books = [places.CriticsBook.model_validate_json(json.dumps(each)) for each in whole["books"]]
    works = [places.QuotedPlaces.model_validate_json(json.dumps(each)) for each in whole["works"]]
    whole["digest"] = places.digest_of(books, works)
    return [(before, whole["digest"])]


def _signed_index(whole: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - as read from JSON
    before = whole.pop("manifest")
    whole["manifest"] = index_files.digest_of_facts(whole)
    return [(before, whole["manifest"])]


def _signed_quoted(whole: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - as read from JSON
    from relic_core.mining.quoted_works import manifest_digest

    before = whole["digest"]
    whole["digest"] = manifest_digest(whole)
    return [(before, whole["digest"])]
