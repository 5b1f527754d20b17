"""The plug-in in a pytest of its own."""


def test_check_passes_and_fails(pytester):
    pytester.makepyfile("""
        import numpy as np
        from vernier.pytest_plugin import assert_outputs_match

        def test_same():
            assert_outputs_match({"y": np.ones(3)}, {"y": np.ones(3)})

        def test_differs():
            assert_outputs_match({"y": np.ones(3)}, {"y": np.zeros(3)}, atol=0.5)

        def test_fixture(vernier):
            vernier.assert_outputs_match({"y": np.ones(3)}, {"y": np.ones(3) + 0.1}, atol=0.2)
            assert not vernier.compare({"y": np.ones(3)}, {"y": np.zeros(3)}, check=False)
            assert vernier.compare({"y": np.ones(3)}, {"y": np.ones(3)})
            record = vernier.run(None, [lambda f: f, lambda f: f], {"x": np.ones(2)})
            assert len(record.results) == 2
            assert vernier.RunResults([]) == vernier.RunResults()  # the module's, too

        def test_fixture_compares(vernier):
            vernier.compare({"y": np.ones(3)}, {"y": np.zeros(3)})

        def test_fixture_runs(vernier):
            vernier.run(None, [lambda f: f, lambda f: {"x": f["x"] + 1}], {"x": np.ones(2)})
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(["*outputs do not match*", "*y*"])
    # Which of a test's checks it was.
    result.stdout.fnmatch_lines([">*assert_outputs_match({*np.zeros(3)}, atol=0.5)",
                                 ">*vernier.compare({*np.zeros(3)})", ">*vernier.run(None*"])


def test_failure_says_which_shapes_differ(pytester):
    """In the text of the failure: the log may be shown to nobody."""
    pytester.makepyfile("""
        import numpy as np

        def test_shapes(vernier):
            vernier.compare({"y": np.ones((2, 3))}, {"y": np.ones((3, 4))})
    """)
    result = pytester.runpytest_subprocess("--show-capture=no")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *the shapes are (2, 3) and (3, 4)*"])


def test_what_was_not_compared_is_no_mismatch(pytester):
    pytester.makepyfile("""
        import numpy as np
        from vernier.pytest_plugin import assert_outputs_match

        def test_part():
            assert_outputs_match({"y": np.ones(3)}, {"y": np.ones(3), "w": np.ones(3)})
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*outputs were not all compared*", "*INCOMPLETE*"])
    assert "do not match" not in result.stdout.str()


def test_what_matches_and_is_refused_is_no_mismatch(pytester):
    pytester.makepyfile("""
        import numpy as np

        def test_types(vernier):
            vernier.compare({"y": np.arange(3)}, {"y": np.arange(3.0)}, same_type=True)

        def test_strict(vernier):
            vernier.compare({"y": np.zeros(3)}, {"y": np.zeros(3)}, strict=True)
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*the types of outputs differ*"])
    result.stdout.fnmatch_lines(["*outputs match, but that shows nothing, which strict takes*"])
    assert "outputs do not match" not in result.stdout.str()


def test_nothing_compared_is_no_pass(pytester):
    pytester.makepyfile("""
        import numpy as np

        def test_one_runner(vernier):
            vernier.run(None, [lambda f: f], {"x": np.ones(2)})

        def test_no_pairs(vernier):
            vernier.run(None, [lambda f: f, lambda f: f], {"x": np.ones(2)}, pairs=[])

        def test_nothing_in_common(vernier):
            vernier.compare({}, {})

        def test_that_is_meant(vernier):
            record = vernier.run(None, [lambda f: f], {"x": np.ones(2)}, check=False)
            assert len(record.results[0][1]) == 1
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["*nothing was compared; check=False accepts that*"])
    assert "do not match" not in result.stdout.str()
