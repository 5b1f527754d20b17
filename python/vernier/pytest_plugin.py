"""pytest: the fixture `vernier` and the check `assert_outputs_match`."""

import pytest


def assert_outputs_match(actual, expected, **options):
    """Fails with the program's summary where outputs differ. Options are vernier.compare's.

    `expected` is the reference: a mapping of names to arrays, RunResults, or a file.
    """
    __tracebackhide__ = True
    from . import compare
    record = compare(expected, actual, **{"names": ("expected", "actual"), **options})
    if not record.passed:
        pytest.fail(f"outputs do not match\n{record.summary()}", pytrace=False)
    return record


class VernierFixture:
    """vernier's functions, whose findings fail the test, and files in the test's own folder."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, model=None, runners=(), inputs=None, *, check=True, **options):
        """vernier.run; a record that did not pass fails the test unless check=False."""
        __tracebackhide__ = True
        from . import run
        record = run(model, runners, inputs, **options)
        if check and not record.passed:
            pytest.fail(f"outputs do not match\n{record.summary()}", pytrace=False)
        return record

    def __getattr__(self, name):
        # The fixture hides the module of its name, whose other functions and classes it has.
        import vernier as module
        return getattr(module, name)

    @staticmethod
    def compare(a, b, **options):
        from . import compare
        return compare(a, b, **options)

    assert_outputs_match = staticmethod(assert_outputs_match)

    @staticmethod
    def load_results(path):
        from . import load_results
        return load_results(path)


@pytest.fixture
def vernier(tmp_path):
    """vernier.run, compare, load_results and assert_outputs_match for one test."""
    return VernierFixture(tmp_path)
