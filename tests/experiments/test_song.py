"""The loader of the official Song file, on made data of its shape."""
import gzip
import zipfile

import numpy as np
import pytest

import song

TRAIN, TAKEN, TEST = 60, 40, 15


def lines(n=TRAIN + TEST, features=song.FEATURES):
    rng = np.random.default_rng(1)
    return [",".join([str(1960 + k % 50)] + [f"{v:.5f}" for v in rng.normal(size=features)])
            for k in range(n)]


def write(path, rows):
    text = "\n".join(rows) + "\n"
    if path.suffix == ".gz":
        with gzip.open(path, "wt") as file:
            file.write(text)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("YearPredictionMSD.txt", text)
    else:
        path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", song.FILES)
def test_rows_and_columns(tmp_path, name):
    rows = lines()
    write(tmp_path / name, rows)
    path = song.find(str(tmp_path))
    train, test = song.load(path, TRAIN, TAKEN, TEST)
    assert train.shape == (TAKEN, 91) and test.shape == (TEST, 91)
    for got, line in ((train[0], rows[0]), (train[-1], rows[TAKEN - 1]), (test[0], rows[TRAIN]),
                      (test[-1], rows[-1])):
        wanted = [float(c) for c in line.split(",")]
        assert got[-1] == wanted[0]              # the year comes last
        assert list(got[:-1]) == wanted[1:]


def test_the_official_counts():
    assert song.TRAIN + song.TEST == 515_345 and song.TAKEN == 100_000 and song.FEATURES == 90


@pytest.mark.parametrize("rows, message", [
    (lines()[:-1], "has 74 rows; the official file has 75"),
    (lines(features=89), "line 1: 90 columns"),
    (["year" + row[4:] for row in lines()], "line 1: not all cells are numbers"),
    (["12" + row[4:] for row in lines()], "should be a year, not 12"),
])
def test_what_is_wrong_is_said(tmp_path, rows, message):
    path = write(tmp_path / "YearPredictionMSD.txt", rows)
    with pytest.raises(SystemExit, match=message):
        song.load(path, TRAIN, TAKEN, TEST)


def test_no_file(tmp_path):
    with pytest.raises(SystemExit, match="YearPredictionMSD.txt.zip"):
        song.find(str(tmp_path))
