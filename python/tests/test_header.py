"""The declarations and the generated parameters are those of the library."""
import ctypes
import pathlib
import re
import subprocess
import sys

import pytest

from quorum import _library

PYTHON = pathlib.Path(__file__).resolve().parent.parent
HEADER = PYTHON.parent / "include" / "quorum.h"
STRUCTURES = {"quorum_option_info": _library.OptionInfo, "quorum_info": _library.Info,
              "quorum_prediction": _library.Prediction, "quorum_report": _library.Report,
              "quorum_suggestion": _library.Suggestion, "quorum_scores": _library.Scores,
              "quorum_distribution": _library.DistributionPoints, "quorum_metrics": _library.Metrics,
              "quorum_new_rows": _library.NewRows, "quorum_forgetting": _library.Forgetting,
              "quorum_update_report": _library.UpdateReport, "quorum_estimate": _library.Estimate,
              "quorum_input_importance": _library.InputImportance,
              "quorum_importance_summary": _library.ImportanceSummary,
              "quorum_effect_grid": _library.EffectGrid,
              "quorum_effect_curves": _library.EffectCurves}

# Functions of the header that Python has no use for: files are read by pandas and NumPy.
UNUSED = {"quorum_status_name", "quorum_load", "quorum_blas_kernel", "quorum_options_get",
          "quorum_data_read",
          "quorum_data_free", "quorum_scores_add", "quorum_scores_add_model", "quorum_options_memory", "quorum_stream_open",
          "quorum_stream_open_with", "quorum_stream_column", "quorum_stream_column_place", "quorum_stream_next", "quorum_stream_dropped",
          "quorum_stream_converted", "quorum_stream_decimal_comma",
          "quorum_stream_close", "quorum_stream_open_lines", "quorum_stream_feed", "quorum_save_grid", "quorum_training_rows", "quorum_stream_offset", "quorum_stream_noise_std", "quorum_stream_weights",
          "quorum_stream_kept_columns", "quorum_stream_kept_name",
          "quorum_stream_kept", "quorum_stream_row", "quorum_stream_dropped_row", "quorum_stream_why_dropped", "quorum_fit", "quorum_block_rows",
          "quorum_method_count", "quorum_method_name", "quorum_method_help",
          "quorum_team_rank", "quorum_team_size", "quorum_team_start", "quorum_team_finish",
          "quorum_team_agree", "quorum_team_account"}


def prototypes():
    """Name and number of arguments of every function of the header."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    for declaration in re.findall(r"QUORUM_API ([^;{]*\))\s*;", text):
        name, arguments = re.search(r"(quorum_\w+)\((.*)\)", declaration, re.S).groups()
        yield name, 0 if arguments.strip() == "void" else arguments.count(",") + 1


def test_functions():
    header = dict(prototypes())
    assert set(header) == set(_library.FUNCTIONS) | UNUSED
    for name, (_, arguments) in _library.FUNCTIONS.items():
        assert len(arguments) == header[name], name


def test_structures(tmp_path):
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "quorum.h"', "int main(void) {"]
    expected = []
    for name, structure in STRUCTURES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(structure)}")
        for field, _ in structure._fields_:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
            expected.append(f"{name}.{field} {getattr(structure, field).offset}")
    (tmp_path / "layout.c").write_text("\n".join([*lines, "}"]))
    subprocess.run(["cc", f"-I{HEADER.parent}", tmp_path / "layout.c", "-o", tmp_path / "layout"],
                   check=True)
    found = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True)
    assert found.stdout.split("\n")[:-1] == expected


def test_generated_parameters_are_up_to_date():
    result = subprocess.run([sys.executable, "-B", PYTHON / "generate_parameters.py", "--check"],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_versions_agree():
    project = (PYTHON / "pyproject.toml").read_text()
    version = _library.lib.quorum_version().decode()
    assert f'version = "{version}"' in project and version.startswith(_library.VERSION + ".")


@pytest.mark.parametrize("variable, sentence", [
    ("/no/such/libquorum.so", "was not found"), ("libm.so.6", "older than this package")])
def test_a_wrong_library_is_named(variable, sentence):
    result = subprocess.run([sys.executable, "-B", "-c", "import quorum"], capture_output=True,
                            text=True, env={"QUORUM_LIBRARY": variable, "PYTHONPATH": str(PYTHON)})
    assert result.returncode != 0 and "ImportError" in result.stderr and sentence in result.stderr
