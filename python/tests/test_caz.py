"""The package against the installed program, on the bundled samples and on hostile input."""

import json
import os
import stat
from pathlib import Path

import pytest

import caz

DATA = Path(__file__).resolve().parents[2] / "data"
LABELS, Z = DATA / "labels.csv", DATA / "llm-labels.csv"
REVIEWS, Z_REVIEWS = DATA / "reviews.jsonl", DATA / "llm-reviews.jsonl"


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_rows_in_memory_give_what_files_give():
    from_files = caz.reviews(REVIEWS, Z_REVIEWS)
    from_rows = caz.reviews(read(REVIEWS), read(Z_REVIEWS))
    assert from_rows.rows == from_files.rows
    assert isinstance(from_rows.table, list)
    assert from_files.inputs[0]["path"] == str(REVIEWS)
    assert from_files.settings == from_rows.settings


def test_settings_become_flags():
    result = caz.labels(LABELS, Z, mechanism=["ca_z", "neg_z"], min_tasks=5)
    assert result.settings["min_tasks"] == 5
    assert {row["mechanism"] for row in result.rows} == {"ca_z", "neg_z"}


def test_several_z_are_several_sources():
    rows = read(Z_REVIEWS)
    first = [{**row, "source": "a"} for row in rows]
    second = [{**row, "source": "b", "text": row["text"][::-1]} for row in rows]
    together = caz.reviews(REVIEWS, first + second, score="projected")
    apart = caz.reviews(REVIEWS, [first, second], score="projected")
    assert apart.rows == together.rows


def test_errors_have_the_kind_of_the_exit_code():
    with pytest.raises(caz.MissingError):
        caz.labels("no-such-file.csv", Z)
    with pytest.raises(caz.UsageError):
        caz.labels(LABELS, Z, fdr=7)
    with pytest.raises(caz.InputError) as caught:
        caz.labels([{"task": "1", "worker": "a"}], [{"task": "1", "label": "x"}])
    assert caught.value.exit_code == 3
    assert "label" in str(caught.value)


def test_what_may_be_given_again_is_and_a_failed_gate_keeps_its_result():
    rows = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "y")]
    labels = [{"item": task, "who": "llm", "said": label} for task, label in rows]
    gold = [{"task": task, "label": label} for task, label in rows]
    names = ["task=item", "label=said", "source=who"]
    bounds = ["kappa>=0.9", "accuracy>=0.9"]
    passed = caz.agree(labels, gold=gold, column=names, require=bounds)
    values = {row["metric"]: row["value"] for row in passed.table if row["source"] == "llm"}
    assert values["accuracy"] == 1
    labels[0]["said"] = "y"
    with pytest.raises(caz.GateFailed) as failed:
        caz.agree(labels, gold=gold, column=names, require=bounds)
    rows = failed.value.result.table
    assert next(row["value"] for row in rows if row["metric"] == "accuracy") == 0.75
    with pytest.raises(caz.UsageError, match="table"):
        caz.agree(labels, gold=gold, output="x.csv")


def test_a_value_cannot_become_a_flag():
    with pytest.raises(caz.CazError):
        caz.labels(LABELS, Z, fdr="0.05 --output=pwned.csv")
    assert not Path("pwned.csv").exists()


def test_the_report_is_written(tmp_path):
    page = caz.labels(LABELS, Z).report(tmp_path / "report.html")
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!")


def test_embeddings_have_a_row_per_text():
    vectors = caz.embed([{"text": "a clear paper"}, {"text": "a dull one"}], embedder="static")
    assert len(vectors) == 2
    assert any(isinstance(value, list) for value in vectors[0].values())


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_strings_become_an_array_equal_to_the_rows():
    pytest.importorskip("numpy")
    texts = ["The proof is clear.", "One table is missing, sadly."]
    array = caz.embed(texts, "static")
    rows = caz.embed([{"text": text} for text in texts], "static")
    assert array.shape == (2, 128) and array.dtype == "float64"
    assert array.tolist() == [row["vector"] for row in rows]
    with pytest.raises(caz.UsageError):
        caz.embed([], "static")


def test_arrays_of_numpy_are_read_as_given_vectors(tmp_path):
    numpy = pytest.importorskip("numpy")
    rows, z = read(REVIEWS), read(Z_REVIEWS)
    path = {}
    for name, data in (("reviews", rows), ("z", z)):
        vectors = caz.embed([row["text"] for row in data], "static")
        ids = {key: numpy.array([row[key] for row in data]) for key in ("paper", "reviewer") if key in data[0]}
        path[name] = tmp_path / f"{name}.npz"
        numpy.savez_compressed(path[name], vector=vectors, **ids)
    given = caz.reviews(path["reviews"], path["z"], score="projected")
    own = caz.reviews(REVIEWS, Z_REVIEWS, score="projected", embedder="static", vectors={"granularity": "text"})
    assert [row["score"] for row in given.rows] == [row["score"] for row in own.rows]


def test_the_other_commands_give_what_they_print():
    frames = pytest.importorskip("pandas")
    frame = caz.labels(LABELS, Z).frame()
    for column in ("score", "ci_low", "ci_high", "p_own", "accuracy_low"):
        assert frames.api.types.is_float_dtype(frame[column]), column
    assert len(caz.assumptions(LABELS, Z).rows) > 0
    name = caz.reviews(REVIEWS, Z_REVIEWS).rows[0]["reviewer"]
    assert name in caz.explain(REVIEWS, Z_REVIEWS, name)


def test_what_is_written_is_for_the_user_alone(tmp_path, monkeypatch):
    program = tmp_path / "caz"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import json, os, stat, sys\n"
        "path = sys.argv[2]\n"
        "modes = [stat.S_IMODE(os.stat(p).st_mode) for p in (path, os.path.dirname(path))]\n"
        "print(json.dumps({'results': [{'modes': modes}], 'warnings': [], 'settings': {},"
        " 'inputs': [], 'version': '0'}))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CAZ_BIN", str(program))
    result = caz.reviews([{"paper": "p", "reviewer": "r", "text": "t"}], "z.jsonl")
    assert result.rows == [{"modes": [0o600, 0o700]}]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_comes_back_as_a_frame(library):
    frames = pytest.importorskip(library)
    result = caz.labels(frames.read_csv(str(LABELS)), frames.read_csv(str(Z)))
    assert isinstance(result.table, frames.DataFrame)
    assert len(result.table) == len(result.rows)
    assert result.rows == caz.labels(LABELS, read_rows(Z)).rows


def read_rows(path):
    import csv

    with open(path, encoding="utf-8", newline="") as file:
        return [dict(row) for row in csv.DictReader(file)]


def test_missing_values_of_a_frame_are_left_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"task": ["1", "1", "2", "2"], "worker": ["a", "b", "a", "b"],
                              "label": ["x", "x", "y", None]})
    with pytest.raises(caz.InputError, match="label"):
        caz.labels(frame, mechanism="ca")


def test_the_program_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CAZ_BIN", str(tmp_path / "nothing"))
    with pytest.raises(caz.MissingError, match="CAZ_BIN"):
        caz.find_caz_bin()
