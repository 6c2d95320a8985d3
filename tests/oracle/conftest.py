"""Prints, after the run, the largest deviation of every kind of comparison."""


def pytest_terminal_summary(terminalreporter):
    try:
        from oracle_support import largest
    except ImportError:
        return
    if largest:
        terminalreporter.section("oracle: largest deviations, as a share of the scale")
        for what in sorted(largest):
            terminalreporter.write_line(f"  {what:<46} {largest[what]:.1e}")
