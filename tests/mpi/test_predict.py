"""Predicting on several ranks: the bytes that one process writes."""
import json

import pytest
from conftest import ENVIRONMENT, FIT, QUORUM_MPI, RANKS, finish, serial, team

WAYS = {
    "default": [],
    "scattered": ["--memory", "10M"],
    "neighbours": ["--neighbours", "64"],
    "local": ["--select", "local:4", "--neighbours", "64"],
    "local auto": ["--select", "local:auto", "--neighbours", "0"],
    "knn": ["--select", "knn:3", "--neighbours", "32"],
    "rbcm knn": ["--method", "rbcm", "--select", "graph:0.8+knn:2"],
    "npae": ["--method", "npae"],
    "npae and neighbours": ["--select", "all", "--neighbours", "32"],
    "groups": ["--method", "groups"],
    "ggm": ["--method", "ggm"],
    "grbcm": ["--method", "grbcm"],
    "rbcm": ["--method", "rbcm"],
    "rbcm local": ["--method", "rbcm", "--select", "local:3"],
    "graph": ["--method", "gpoe*"],
    "gradients": ["--gradient", "--novelty", "--above", "1"],
    "gradients, scattered": ["--gradient", "--memory", "10M"],
    "gradients of a rule": ["--gradient", "--method", "grbcm"],
    "kept columns": ["--keep", "b,1", "--row-number", "--missing", "nan"],
    "all columns, in small memory": ["--keep", "all", "--memory", "10M"],
    "cells": ["--method", "cells", "--neighbours", "40"],
    "gradients of cells": ["--method", "cells", "--neighbours", "40", "--gradient"],
    "cells, in small memory": ["--method", "cells", "--neighbours", "60", "--memory", "10M"],
    "small memory": ["--select", "all", "--memory", "10M"],
}


@pytest.mark.parametrize("way", WAYS)
def test_bytes(data, tmp_path, way):
    one = serial("predict", data / "serial.npz", data / "queries.csv", *WAYS[way], "-q")
    for ranks in RANKS if way in ("default", "scattered", "local", "npae", "cells") else [3]:
        out = tmp_path / f"{ranks}.csv"
        team(ranks, "predict", data / "serial.npz", data / "queries.csv", *WAYS[way], "-q", "-o",
             out)
        assert out.read_text() == one.out, (way, ranks)


@pytest.mark.parametrize("overlap", ["0", "0.3"])
def test_a_graph_that_is_learned_when_asked_for(data, tmp_path, overlap):
    """Where ranks have rows of their own experts, and where, with overlap, all have all."""
    for graph in ("glasso", "auto"):
        serial("fit", data / "train.csv", "-o", tmp_path / f"{graph}.npz", *FIT, "--overlap", overlap,
               "--graph", graph)
    for method in ("gpoe*", "npae*"):
        words = [data / "queries.csv", "--method", method, "-q"]
        one = serial("predict", tmp_path / "glasso.npz", *words)
        for ranks in (2, 3):
            assert team(ranks, "predict", tmp_path / "auto.npz", *words).out == one.out, ranks


def test_rows_with_holes_and_texts(data, tmp_path):
    queries = tmp_path / "q.csv"
    lines = (data / "queries.csv").read_text().splitlines()
    table = ["id," + lines[0]] + [f'"row ""{i}"", é",{line if i % 7 else ",1,2"}' for i, line in enumerate(lines[1:])]
    queries.write_text("\n".join(table) + "\n")
    for missing in ("nan", "drop"):
        words = ["predict", data / "serial.npz", queries, "--keep", "id,c", "--row-number", "--missing", missing]
        one = serial(*words)
        for ranks in (2, 3):
            many = team(ranks, *words)
            assert many.out == one.out
            assert many.err.splitlines()[0] == one.err.splitlines()[0] and "rows 1, 8, 15, 22" in many.err


@pytest.mark.parametrize("flags, says", [(["--keep", "idd"], "has no column"), (["--keep", "mean"], "has the name of"),
                                         (["--keep", "all,"], "has no column")])
def test_kept_names_that_are_refused(data, tmp_path, flags, says):
    queries = tmp_path / "q.csv"
    queries.write_text("a,b,c,mean\n1,2,3,4\n")
    done = team(3, "predict", data / "serial.npz", queries, *flags, code=1)
    assert done.err.count(says) == 1 and done.out == ""


def test_standard_output(data):
    one = serial("predict", data / "serial.npz", data / "queries.csv", "-q")
    assert team(2, "predict", data / "serial.npz", data / "queries.csv", "-q").out == one.out


@pytest.mark.parametrize("ranks", RANKS)
def test_evaluate(data, ranks):
    words = ["evaluate", data / "serial.npz", data / "test.csv", "--method", "nearest,npae,rbcm,grbcm",
             "--json", "-q"]
    one, many = json.loads(serial(*words).out), json.loads(team(ranks, *words).out)
    for row in one + many:
        del row["seconds"]
    assert one == many


@pytest.mark.parametrize("more", [[], ["--memory", "10M"], ["--method", "rbcm", "--memory", "10M"]])
def test_groups_by_distance(data, more):
    words = ["evaluate", data / "serial.npz", data / "test.csv", "--by", "distance", "--json", "-q", *more]
    [one] = json.loads(serial(*words).out)
    for ranks in (2, 3):
        [many] = json.loads(team(ranks, *words).out)
        assert one["groups"] == many["groups"], ranks
    words[4] = "3"  # a column
    [one], [many] = (json.loads(done.out) for done in (serial(*words), team(2, *words)))
    assert one["groups"] == many["groups"]


def test_every_rank_has_the_same_model(data, tmp_path):
    """Models of one shape would mix, others end in MPI's own words: both are refused at once."""
    others = {"same shape": ["--seed", "9"], "more experts": ["--experts", "9"]}
    for name, options in others.items():
        for rank, more in enumerate([[], options]):
            folder = tmp_path / name / str(rank)
            folder.mkdir(parents=True)
            serial("fit", data / "train.csv", "-o", folder / "m.npz", *FIT, *more)
        for method in ("rbcm", "nearest", "npae"):
            line = (f"cd '{tmp_path / name}'/$OMPI_COMM_WORLD_RANK && exec '{QUORUM_MPI}' predict "
                    f"m.npz '{data / 'queries.csv'}' --method {method} -q")
            done = finish(["mpirun", "-np", 2, "sh", "-c", line], 1, ENVIRONMENT)
            assert "the model file differs between processes" in done.err
            assert "MPI_" not in done.err and done.out == ""
