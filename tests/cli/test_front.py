"""Help, version, flags and exit codes: what needs no data."""
import os
import pathlib
import pty
import re
import shutil
import subprocess

import pytest

from conftest import COMMANDS, QUORUM, run

OVERVIEW = """\
Usage: quorum COMMAND [arguments]

Gaussian-process regression for data too big for one GP: the data are split among local
experts, and each prediction is made by the quorum of experts that matters for it.

Commands:
  fit        learn a model from training data
  update     take new rows into a model without a fit, forget old ones
  predict    predict with a model, with uncertainty
  evaluate   score a model on test data, method by method
  compare    say which of two models is better, and whether it may be chance
  importance say which inputs the predictions depend on, and how sure that is
  effects    draw or write how the prediction changes with one or two inputs
  sample     draw the target jointly at many queries
  suggest    find the rows that are worth measuring next
  serve      answer rows as they come, over a pipe or a socket
  plot       draw what a model says along one or two inputs
  report     write a page that shows how good a model is, and where
  inspect    show a model's experts, hyperparameters and expert graph
  graph      draw how the experts depend on each other
  export-c   write a model as one file of C that predicts without quorum
  export-fmu write a model as an FMU for simulation tools
  demo       see it work on built-in data, no files needed
  reproduce  the paper's tables and figures, from raw data to a page

Start here:
  quorum demo                                  see it work, no files needed
  quorum fit train.csv -o model.npz            the last column is the target
  quorum predict model.npz new.csv -o out.csv
  quorum evaluate model.npz test.csv --method all

'quorum help COMMAND' or 'quorum COMMAND --help' explains a command,
'quorum --version' names this version.
"""


# ---- Help and version ------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_overview(words):
    result = run(*words)
    assert result.out == OVERVIEW
    assert result.err == ""


def test_no_command_is_a_usage_error():
    result = run(code=2)
    assert result.out == ""
    assert result.err == OVERVIEW


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_names_the_blas_kernels(flag):
    assert re.fullmatch(r"quorum \d+\.\d+\.\d+\nBLAS kernels: \S+\n", run(flag).out)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name):
    result = run(name, "--help")
    assert result.err == ""
    assert result.out.startswith(f"Usage: quorum {name} ")
    assert f"\nExamples:\n  quorum {name}" in result.out
    assert "\n  -h, --help " in result.out
    assert max(map(len, result.out.splitlines())) <= 100
    assert not any(line.endswith(" ") for line in result.out.splitlines())
    assert run("help", name).out == result.out
    assert run(name, "-h").out == result.out


def test_help_wins_over_missing_arguments():
    assert run("fit", "train.csv", "--experts", "3", "--help").out.startswith("Usage: quorum fit")


def library_options():
    rows = re.findall(r"^\| `([a-z-]+)` \|.*?\| ([a-z ]+) \| [^|]*\|$", run("options").out, re.M)
    assert len(rows) >= 15
    return rows


def test_every_option_is_in_the_help_of_its_commands():
    for name, used_by in library_options():
        for command in used_by.split():
            if command in COMMANDS:
                assert re.search(rf"--(\[no-\])?{name}\b", run(command, "--help").out), name


def test_groups_of_options_have_titles():
    text = run("fit", "--help").out
    titles = [line for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == ["Arguments:", "Options:", "Data:", "Experts:", "Training:", "Expert graph:",
                      "Prediction:", "Machine:", "Examples:"]


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_prediction_options_stand_together(command):
    text = run(command, "--help").out
    group = text[text.index("\nPrediction:\n"):text.index("\nMachine:\n")]
    assert "\n  --neighbours m" in group
    assert command == "evaluate" or "\n  --select WHICH" in group
    assert "\nOther options:" not in text


def test_help_names_default_and_choices():
    text = run("fit", "--help").out
    assert "se|matern12|matern32|matern52|matern32x2|matern32x3|matern52x2|auto." in text
    assert re.search(r"--missing error\|drop.*?Default: error\.", text, re.S)


@pytest.mark.parametrize("name", ["predict", "evaluate"])
def test_help_lists_the_methods(name):
    text = run(name, "--help").out
    methods = text[text.index("\nMethods:\n"):]
    for method in ["nearest", "npae", "rbcm", "gpoe", "poe", "grbcm", "bcm", "single"]:
        assert re.search(rf"^  {method} +\S", methods, re.M)


# ---- Wrong command lines: exit code 2, nothing on stdout, exact words ------------------------------


@pytest.mark.parametrize("words, message", [
    (["fti"], "quorum: 'fti' is not a command (did you mean 'fit'?); try 'quorum --help'"),
    (["eval"], "quorum: 'eval' is not a command (did you mean 'evaluate'?); try 'quorum --help'"),
    (["xyzzy"], "quorum: 'xyzzy' is not a command; try 'quorum --help'"),
    (["help", "xyzzy"], "quorum: 'xyzzy' is not a command; try 'quorum --help'"),
    (["fit"], "quorum fit: TRAIN is missing; try 'quorum fit --help'"),
    (["fit", "t.csv"], "quorum fit: -o MODEL is missing; try 'quorum fit --help'"),
    (["predict", "m.npz"], "quorum predict: QUERIES is missing, or --grid; try 'quorum predict --help'"),
    (["inspect", "a", "b"],
     "quorum inspect: unexpected argument 'b'; try 'quorum inspect --help'"),
    (["fit", "--kernle", "se"],
     "quorum fit: --kernle: no such option (did you mean --kernel?); try 'quorum fit --help'"),
    (["fit", "--expert=3"],
     "quorum fit: --expert: no such option (did you mean --experts?); try 'quorum fit --help'"),
    (["fit", "--frobnicate"], "quorum fit: --frobnicate: no such option; try 'quorum fit --help'"),
    (["inspect", "--experts", "3"],
     "quorum inspect: --experts: no such option; try 'quorum inspect --help'"),
    (["fit", "-x"], "quorum fit: -x: no such option; try 'quorum fit --help'"),
    (["fit", "t.csv", "--experts"],
     "quorum fit: --experts: needs a value, M; try 'quorum fit --help'"),
    (["fit", "t.csv", "-o"], "quorum fit: --output: needs a value, MODEL; try 'quorum fit --help'"),
    (["fit", "--json=yes"], "quorum fit: --json: takes no value; try 'quorum fit --help'"),
    (["predict", "--no-latent=1"],
     "quorum predict: --no-latent: takes no value; try 'quorum predict --help'"),
    (["fit", "--no-json"], "quorum fit: --no-json: no such option; try 'quorum fit --help'"),
    (["fit", "--kernel", "foo"],
     "quorum fit: --kernel: \"foo\" is not one of se|matern12|matern32|matern52|"
     "matern32x2|matern32x3|matern52x2|auto; "
     "try 'quorum fit --help'"),
    (["fit", "--experts", "few"],
     "quorum fit: --experts: \"few\" is not a whole number; try 'quorum fit --help'"),
    (["fit", "--experts=1.5"],
     "quorum fit: --experts: \"1.5\" is not a whole number; try 'quorum fit --help'"),
    (["predict", "--latent=maybe"],
     "quorum predict: --latent: \"maybe\" is not true or false; try 'quorum predict --help'"),
    (["fit", "t.csv", "-o", "/dev/null"],
     "quorum fit: -o /dev/null: a model is a file, not a pipe or a device; try 'quorum fit --help'"),
    (["graph", "m.npz"], "quorum graph: -o FILE is missing, or --write; try 'quorum graph --help'"),
    (["graph", "m.npz", "-o", "g.gif"],
     "quorum graph: -o g.gif: the name must end in .svg, .png, .dot or .json; "
     "try 'quorum graph --help'"),
    (["evaluate", "m.npz", "t.csv", "--method", ""],
     "quorum evaluate: --method: the list is empty; try 'quorum evaluate --help'"),
    (["completion", "tcsh"],
     "quorum completion: 'tcsh': only bash, zsh and fish are known; try 'quorum completion --help'"),
])
def test_usage_errors(words, message):
    result = run(*words, code=2)
    assert result.out == ""
    assert result.err == message + "\n"


@pytest.mark.parametrize("words, parts", [
    (["fit", "--experts", "-3"], ["--experts:", "-3", "range"]),
    (["predict", "--interval", "2"], ["--interval:", "2", "range"]),
    (["fit", "--memory", "lots"], ["--memory:", "lots", "4G"]),
    (["fit", "--lambda", "some"], ["--lambda:", "some", "ebic"]),
    (["predict", "--method", "nape"], ["--method:", "nape", "npae"]),
    (["predict", "--select", "graph:2"], ["--select:", "graph:2", "(0, 1]"]),
    (["evaluate", "m", "t", "--method", "npae,foo"], ["--method:", "foo", "rbcm"]),
    (["evaluate", "m", "t", "--space", "latent,outer"], ["--space:", "outer", "observed"]),
    (["evaluate", "m", "t", "--select", "all,some"], ["--select:", "some", "graph:A"]),
    (["graph", "m.npz", "-o", "g.dot", "--select", "graph:7"], ["--select:", "graph:7"]),
    (["graph", "m.npz", "-o", "g.dot", "--select", "expert:3"], ["--select:", "expert:3", "worst:A"]),
    (["graph", "m.npz", "-o", "g.dot", "--select", "graph:0.8+local:3"],
     ["--select:", "graph:0.8+local:3", "worst:A"]),
    (["graph", "m.npz", "-o", "g.dot", "--select", "auto"], ["--select:", "auto", "worst:A"]),
    (["predict", "--select", "local:0"], ["--select:", "local:0", "local:4"]),
    (["predict", "--select", "knn:auto"], ["--select:", "knn:auto", "knn:4"]),
    (["predict", "--select", "local:4+graph:0.8"], ["--select:", "local:4+graph:0.8", "auto"]),
    (["evaluate", "m", "t", "--neighbours", "-1"], ["--neighbours:", "-1", "auto"]),
    (["predict", "--neighbours", "many"], ["--neighbours:", "many", "10000"]),
])
def test_refused_values_say_what_is_allowed(words, parts):
    result = run(*words, code=2)
    assert result.out == ""
    assert result.err.startswith(f"quorum {words[0]}: --")
    assert result.err.endswith(f"; try 'quorum {words[0]} --help'\n")
    for part in parts:
        assert part in result.err


# ---- Made from the same descriptions ---------------------------------------------------------------


def test_options_as_markdown():
    text = run("options", "--markdown").out
    assert text.startswith("# Options\n")
    for line in text.splitlines():
        if line.startswith("| `") and line.count("`") >= 4:
            assert line.replace("\\|", "").count("|") in (3, 6), line
    assert "| `kernel` | `auto` | se\\|matern12\\|matern32\\|matern52\\|matern32x2\\|matern32x3\\|matern52x2\\|auto | fit |" in text


def test_a_manual_page_of_each_command():
    pages = run("man", "--list").out.split()
    assert pages == ["quorum", "quorum-mpi", *(f"quorum-{name}" for name in listed())]
    for page in pages:
        text = run("man", "--page", page).out
        assert text.replace("\\-", "-").startswith(f".TH {page.upper()} ")
        for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES"):
            assert f"\n.SH {title}\n" in text, (page, title)
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=text, text=True, capture_output=True) \
            if shutil.which("groff") else None
        assert not done or done.stderr == "", (page, done.stderr)
    assert "-kernel" in run("man", "--page", "quorum-fit").out
    wrong = run("man", "--page", "quorum-fti", code=2)
    assert "there is no page 'quorum-fti'" in wrong.err


def test_manual_pages_name_every_variable():
    """What the sources ask the environment for, but for mpirun's own marks."""
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    sources = [path.read_text() for folder in ("cli", "src") for path in sorted((root / folder).rglob("*.c"))]
    asked = {name for text in sources for name in re.findall(r'getenv\("(\w+)"\)', text)}
    assert {"NO_COLOR", "OPENBLAS_CORETYPE"} < asked
    def told(page):
        section = run("man", "--page", page).out.split(".SH ENVIRONMENT\n")[1].split("\n.SH")[0]
        return set(re.findall(r"(?m)^\\fB(\w+)\\fR$", section))
    assert told("quorum") == asked
    own = {"quorum-export-fmu": {"TMPDIR"}, "quorum-reproduce": {"QUORUM_EXPERIMENTS"}}
    shared = asked - set.union(*own.values())
    for page in run("man", "--list").out.split()[1:]:
        assert told(page) == shared | own.get(page, set()), page


def listed():
    """The commands that the overview names, in its order."""
    return re.findall(r"(?m)^  ([\w-]+) +\w", OVERVIEW.split("Commands:")[1].split("\n\n")[0])


def test_manual_page():
    text = run("man").out
    assert text.startswith(".TH QUORUM 1 ")
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "METHODS", "EXIT STATUS"]:
        assert f"\n.SH {section}\n" in text
    for name in COMMANDS:
        assert f"\n.SS quorum {name} " in text


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_manual_page_is_clean_roff():
    page = run("man").out
    done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True,
                          text=True)
    assert done.returncode == 0
    assert done.stderr == ""


def complete(tmp_path, *words):
    """What bash would offer for the last word."""
    (tmp_path / "completion").write_text(run("completion", "bash").out)
    quoted = " ".join(f"'{w}'" for w in words)
    script = (f"source ./completion; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _quorum; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split()


def test_completion(tmp_path):
    (tmp_path / "train.csv").write_text("")
    assert complete(tmp_path, "quorum", "ev") == ["evaluate"]
    assert complete(tmp_path, "quorum", "help", "ins") == ["inspect"]
    assert complete(tmp_path, "quorum", "fit", "--kern") == ["--kernel"]
    assert complete(tmp_path, "quorum", "fit", "--kernel", "matern5") == ["matern52", "matern52x2"]
    assert complete(tmp_path, "quorum", "fit", "tr") == ["train.csv"]
    assert complete(tmp_path, "quorum", "fit", "-o", "tr") == ["train.csv"]
    assert complete(tmp_path, "quorum", "predict", "--no-l") == ["--no-latent"]
    assert complete(tmp_path, "quorum", "predict", "--method", "np") == ["npae"]
    assert complete(tmp_path, "quorum", "evaluate", "--method", "al") == ["all"]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_completion_of_fish(tmp_path):
    (tmp_path / "quorum.fish").write_text(run("completion", "fish").out)
    (tmp_path / "train.csv").write_text("")

    def words(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source quorum.fish; complete -C '{line}'"],
                              cwd=tmp_path, capture_output=True, text=True, check=True,
                              env={**os.environ, "HOME": str(tmp_path)})
        assert done.stderr == ""
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    assert words("quorum ev") == ["evaluate"]
    assert words("quorum help ins") == ["inspect"]
    assert words("quorum fit --kern") == ["--kernel"]
    assert words("quorum fit --kernel matern5") == ["matern52", "matern52x2"]
    assert words("quorum fit tr") == ["train.csv"] and words("quorum fit -o tr") == ["train.csv"]
    assert words("quorum predict --no-l") == ["--no-latent"]
    assert words("quorum evaluate --method al") == ["all"]
    assert words("quorum inspect --kern") == []


def typed_in_zsh(folder, *lines):
    """What an interactive zsh makes of each line when tab is pressed at its end."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "HOME": str(folder), "TERM": "dumb"})
    seen = ""

    def until(mark):
        nonlocal seen
        while mark not in seen:
            seen += os.read(terminal, 4096).decode()
        before, seen = seen.split(mark, 1)
        return before

    try:
        os.write(terminal, b"stty -echo; PS1=; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; "
                           b"unsetopt zle_bracketed_paste; show() { print -r \"<$BUFFER>\"; BUFFER= }; "
                           b"zle -N show; bindkey '^X' show; echo rea''dy\n")
        until("ready")
        answers = []
        for line in lines:
            os.write(terminal, line.encode() + b"\t\x18")
            until("<")
            answers.append(until(">"))
        return answers
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_completion_of_zsh(tmp_path):
    (tmp_path / "_quorum").write_text(run("completion", "zsh").out)
    (tmp_path / "train.csv").write_text("")
    lines = {"quorum ev": "quorum evaluate ", "quorum help ins": "quorum help inspect ",
             "quorum fit --kern": "quorum fit --kernel=", "quorum fit --kernel=matern1": "quorum fit --kernel=matern12 ",
             "quorum fit --kernel matern1": "quorum fit --kernel matern12 ",
             "quorum fit tr": "quorum fit train.csv ", "quorum fit -o tr": "quorum fit -o train.csv ",
             "quorum predict --no-l": "quorum predict --no-latent ",
             "quorum evaluate --method al": "quorum evaluate --method all "}
    assert typed_in_zsh(tmp_path, *lines) == list(lines.values())


def test_full_disk_is_a_failure():
    with open("/dev/full", "w") as full:
        done = subprocess.run([QUORUM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "quorum: cannot write to standard output: No space left on device\n"
