"""pytest: the fixture `vernier` and the check `assert_outputs_match`."""

import pytest


def assert_outputs_match(actual, expected, **options):
    """Fails with the program's summary where outputs differ. Options are vernier.compare's.

    `expected` is the reference: a mapping of names to arrays, RunResults, or a file.
    """
    __tracebackhide__ = True
    from . import compare
    record = compare(expected, actual, **{"names": ("expected", "actual"), **options})
    _expect_pass(record)
    return record


def _expect_pass(record):
    __tracebackhide__ = True
    if not record.passed or not any(record.outputs()):
        pytest.fail(f"{_headline(record)}\n{record.summary()}")


def _headline(record):
    """As the exit code has it: what was not compared has not been found to differ."""
    if not any(record.outputs()):
        return "nothing was compared; check=False accepts that"
    if record.exit_code == 1 and not record.mismatched():
        return _refusal(record)
    return {1: "outputs do not match",
            4: "outputs were not all compared"}.get(record.exit_code, "the comparison failed")


def _refusal(record):
    """Of outputs that all match: what else was asked of them."""
    if any(pair.get("rejected_for_types") for pair in record.pairs):
        return "the types of outputs differ"
    if any(pair.get("rejected_by_strict") for pair in record.pairs):
        return "outputs match, but that shows nothing, which strict takes as a failure"
    return "outputs match, but the comparison failed"


class VernierFixture:
    """vernier's functions for one test: a mismatch that run or compare finds fails it."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, model=None, runners=(), inputs=None, *, check=True, **options):
        """vernier.run; unless check=False the test fails where outputs do not match, or where
        nothing was compared, as with one runner."""
        __tracebackhide__ = True
        from . import run
        record = run(model, runners, inputs, **options)
        if check:
            _expect_pass(record)
        return record

    def __getattr__(self, name):
        # The fixture hides the module of its name, whose other functions and classes it has.
        import vernier as module
        return getattr(module, name)

    @staticmethod
    def compare(a, b, *more, check=True, **options):
        """vernier.compare; a record that did not pass fails the test unless check=False."""
        __tracebackhide__ = True
        from . import compare
        record = compare(a, b, *more, **options)
        if check:
            _expect_pass(record)
        return record

    assert_outputs_match = staticmethod(assert_outputs_match)

    @staticmethod
    def load_results(path):
        from . import load_results
        return load_results(path)


@pytest.fixture
def vernier(tmp_path):
    """vernier.run, compare, load_results and assert_outputs_match for one test."""
    return VernierFixture(tmp_path)
