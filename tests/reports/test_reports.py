"""--report and vernier report: JUnit, JSON lines, Markdown, annotations, and the page's file.

    VERNIER=path/to/vernier python3 -m unittest test_reports
"""

import json
import pathlib
import re
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "pictures"))

import records
from files import write_results
from page_file import data_of
from program import Case

# What every line of a kind has, with its type.
LINES = {
    "run": {"schema_version": int, "vernier_version": str, "command": str, "origin": dict, "notes": list},
    "runner": {"name": str, "backend": str, "iterations": int},
    "output": {"first": str, "second": str, "name": str, "passed": bool, "elements": int,
               "mismatches": int, "times_over_tolerance": (int, float, str)},
    "pair": {"first": str, "second": str, "outputs": int, "compared_iterations": int,
             "only_in_first": list},
    "verdict": {"exit_code": int, "complete": bool, "faults": list, "seconds": float},
}


class Files(Case):
    """Reports of comparisons of saved files, which need no framework."""

    def compare(self, *words, error=0.0, code=0, **environment):
        write_results(self.path("a.json"), "A", [{"y": ((2, 3), [1, 2, 3, 4, 5, 6]), "z": ((2,), [1, 2])}])
        write_results(self.path("b.json"), "B",
                      [{"y": ((2, 3), [1, 2, 3, 4, 5, 6 + error]), "z": ((2,), [1, 2])}])
        ended = self.vernier("compare", "a.json", "b.json", *words, **environment)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended

    def test_several_reports_at_once(self):
        self.compare("--report", "o.html", "--report", "o.xml", "--report", "sub/o.jsonl", "--report", "o.md")
        for name in ("o.html", "o.xml", "sub/o.jsonl", "o.md"):
            self.assertGreater(self.path(name).stat().st_size, 300, name)

    def test_junit_has_a_test_case_for_each_output(self):
        self.compare("--report", "o.xml", error=1, code=1)
        root = ElementTree.parse(self.path("o.xml")).getroot()
        self.assertEqual((root.tag, root.get("failures"), root.get("errors")), ("testsuites", "2", "0"))
        suite = root.find("testsuite[@name='A vs. B']")
        cases = {case.get("name"): case for case in suite}
        self.assertEqual(list(cases), ["y", "z"])
        self.assertIsNone(cases["z"].find("failure"))
        failure = cases["y"].find("failure")
        self.assertIn("1 of 6 elements out of tolerance", failure.get("message"))
        self.assertIn("(1, 2): 6 against 7", failure.text)
        total = sum(len(suite) for suite in root)
        self.assertEqual(int(root.get("tests")), total)

    def test_names_in_junit_stay_from_run_to_run(self):
        """Runners' own names end in the time of their run: a case would be another one each day.
        What was loaded is called by its file then."""
        def names(*runners):
            for index, runner in enumerate(runners):
                write_results(self.path(f"{index}.json"), runner, [{"y": ((1,), [1])}, {"z": ((1,), [1])}])
            self.vernier("compare", *(f"{index}.json" for index in range(len(runners))),
                         "--report", "o.xml")
            root = ElementTree.parse(self.path("o.xml")).getroot()
            self.assertEqual({case.get("classname") for case in root.iter("testcase")},
                             {suite.get("name") for suite in root})
            return [suite.get("name") for suite in root if " vs. " in suite.get("name")]

        day, next_day = "11/22/26-23:59:59", "11/23/26-00:00:01"
        for time_of_run in (day, next_day):
            self.assertEqual(names(f"onnxrt-runner-N0-{time_of_run}", f"trt-runner-N12-{time_of_run}"),
                             ["0.json vs. 1.json"])
        # Of two runs; both stay apart.
        self.assertEqual(names(f"trt-runner-N0-{day}", f"trt-runner-N0-{next_day}"),
                         ["0.json vs. 1.json"])
        # Labels are as they were given.
        self.assertEqual(names(f"mine-{day}", "11/22/26-23:59:59"), [f"mine-{day} vs. {day}"])

    def test_names_in_junit_do_not_depend_on_what_came_out(self):
        def cases(*words):
            self.vernier("compare", "a.json", "b.json", *words, "--report", "o.xml")
            return {(case.get("classname"), case.get("name")): list(case)
                    for case in ElementTree.parse(self.path("o.xml")).getroot().iter("testcase")}
        write_results(self.path("a.json"), "A", [{"y": ((1,), [1])}] * 2)
        write_results(self.path("b.json"), "B", [{"y": ((1,), [1])}] * 2)
        well = cases()
        write_results(self.path("b.json"), "B", [{"y": ((1,), [1])}])
        short = cases()
        self.assertEqual(list(well), list(short))
        self.assertEqual(well["run", "completeness"], [])
        (error,) = short["run", "completeness"]
        self.assertEqual(error.get("message"), "A vs. B: only 1 of 2 iterations could be compared: "
                         "B has no iteration 1")

    def test_line_ends_in_names_survive_in_junit(self):
        for name in "ab":
            write_results(self.path(name + ".json"), name, [{"y\nz": ((1,), [1])}])
        self.vernier("compare", "a.json", "b.json", "--report", "o.xml")
        self.assertIn('name="y&#10;z"', self.path("o.xml").read_text())

    def test_reports_say_why_validation_failed(self):
        for name in "ab":
            write_results(self.path(name + ".json"), name, [{"y": ((2,), [1, float("nan")])}])
        ended = self.vernier("run", "--load-outputs", "a.json", "b.json", "--validate", "--report",
                             "o.xml", "--report", "o.jsonl", "--report", "o.md")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        why = "validation failed: output 'y' of a holds NaN"
        root = ElementTree.parse(self.path("o.xml")).getroot()
        self.assertEqual(root.find(".//testcase[@name='completeness']/skipped").get("message"),
                         why)
        self.assertEqual(root.find(".//testcase[@name='verdict']/failure").get("message"),
                         f"Nothing was compared: {why}.")
        verdict = json.loads(self.path("o.jsonl").read_text().splitlines()[-1])
        self.assertEqual((verdict["complete"], verdict["faults"], verdict["rejections"]),
                         (False, [], [why]))
        self.assertIn("**Failed:** validation failed", self.path("o.md").read_text())
        self.assertIn("\nfailed: validation failed: output 'y' of a holds NaN\n", ended.stdout)
        self.assertNotIn("not done", ended.stdout.lower() + self.path("o.md").read_text().lower())

    def test_what_was_not_compared_is_no_pass(self):
        write_results(self.path("a.json"), "A", [{"only here": ((2,), [1, 2]), "y": ((1,), [1])}])
        write_results(self.path("b.json"), "B", [{"y": ((1,), [1])}])
        ended = self.vernier("compare", "a.json", "b.json", "--report", "o.xml", "--report", "o.md")
        self.assertEqual(ended.returncode, 4)
        root = ElementTree.parse(self.path("o.xml")).getroot()
        self.assertGreater(int(root.get("errors")), 0)
        self.assertIsNotNone(root.find(".//testcase[@name='only here']/skipped"))
        self.assertIn("Not done", self.path("o.md").read_text())
        self.assertNotIn("\u2705", self.path("o.md").read_text())

    def test_json_lines_keep_their_schema(self):
        self.compare("--report", "o.jsonl", error=1, code=1)
        lines = [json.loads(line) for line in self.path("o.jsonl").read_text().splitlines()]
        self.assertEqual([line["kind"] for line in lines], ["run", "output", "output", "pair", "verdict"])
        for line in lines:
            for field, types in LINES[line["kind"]].items():
                self.assertIsInstance(line[field], types, f"{line['kind']}.{field}")
        self.assertEqual([line["passed"] for line in lines if line["kind"] == "output"], [False, True])
        self.assertEqual(lines[-1]["exit_code"], 1)

    def test_a_page_holds_charts_of_what_was_compared(self):
        self.compare("--report", "o.html", error=1, code=1)
        data = data_of(self.path("o.html").read_text())
        verdicts = [output["verdict"] for output in data["texts"]["pairs"][0]["outputs"]]
        self.assertEqual(verdicts, ["failed", "passed"])
        charts = data["record"]["pairs"][0]["outputs"][0]["worst_iteration"]["charts"]
        self.assertEqual((charts["low"], charts["high"]), (1, 7))
        self.assertEqual((sum(charts["first"]), sum(charts["second"])), (6, 6))
        differences, heat = charts["differences"], charts["heat"]
        self.assertEqual((differences["equal"], differences["counts"]), (5, [1]))
        self.assertEqual(differences.get("first_decade", 0), 0)
        self.assertEqual((heat["rows"], heat["columns"], heat["cells"]), (2, 3, "AAAAA9"))

    def charts(self, shape, a, b):
        write_results(self.path("a.json"), "A", [{"y": (shape, a)}])
        write_results(self.path("b.json"), "B", [{"y": (shape, b)}])
        self.vernier("compare", "a.json", "b.json", "--save-record", "r.json")
        output = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"][0]
        return output["worst_iteration"]["charts"]

    def test_charts_of_what_is_no_number(self):
        nan, inf = float("nan"), float("inf")
        charts = self.charts((2, 3), [1, 2, nan, 4, inf, 6], [1, 2, 3, -inf, inf, 6.5])
        self.assertEqual(charts["heat"]["cells"], "AA_-A9")
        self.assertEqual(charts["differences"], {"first_decade": -1, "counts": [1], "equal": 3, "not_finite": 2})
        self.assertEqual((charts["low"], charts["high"]), (1, 6.5))
        self.assertEqual((sum(charts["first"]), sum(charts["second"])), (4, 4))
        self.assertEqual(len(charts["points"]) % 4, 0)
        charts = self.charts((2,), [nan, nan], [nan, nan])
        self.assertEqual((charts["heat"]["cells"], charts["points"]), ("__", ""))

    def test_one_bad_element_among_many_is_a_bad_cell(self):
        a = [1.0] * (40 * 1000)
        b = list(a)
        b[23 * 1000 + 617] = 1.5
        charts = self.charts((40, 1000), a, b)
        heat = charts["heat"]
        self.assertEqual((heat["rows"], heat["columns"], heat["row_axes"]), (24, 32, 1))
        self.assertEqual([i for i, cell in enumerate(heat["cells"]) if cell != "A"],
                         [23 * 24 // 40 * 32 + 617 * 32 // 1000])
        self.assertEqual(charts["differences"]["equal"], 40 * 1000 - 1)
        # The worst element is among the points: low on one side, high on the other.
        self.assertIn("AA__", [charts["points"][i:i + 4] for i in range(0, len(charts["points"]), 4)])

    def test_a_long_vector_is_folded(self):
        charts = self.charts((1, 1000), [0.0] * 1000, [0.0] * 999 + [1.0])
        heat = charts["heat"]
        self.assertEqual((heat["row_axes"], heat["matrix_rows"], heat["matrix_columns"]), (-1, 32, 32))
        # 24 elements are missing in the last line of 32 x 32.
        self.assertRegex(heat["cells"], r"^A{743}9\.{24}$")
        self.assertEqual(heat["cells"].count("9"), 1)

    def test_a_saved_record_makes_the_same_reports(self):
        self.compare("--report", "o.html", "--report", "o.xml", "--report", "o.jsonl", "--report", "o.md",
                     "--save-record", "r.json", error=1, code=1)
        ended = self.vernier("report", "r.json", "-o", "2.html", "-o", "2.xml", "-o", "2.jsonl", "-o", "2.md")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for kind in ("html", "xml", "jsonl", "md"):
            self.assertEqual(self.path("o." + kind).read_text(), self.path("2." + kind).read_text(), kind)

    def test_a_second_file_needs_a_flag_of_its_own(self):
        ended = self.vernier("run", "m.onnx", "--identity", "--report", "o.html", "o.md")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("Unrecognized Options: ['o.md']\n    --report takes one value; give it once for each.",
                      ended.stdout)

    def test_words_that_make_no_sense_are_refused_at_once(self):
        for name in ("out.pdf", "out", ".html", ""):
            ended = self.compare("--report", name, code=2)
            self.assertIn("--report: expected a file that ends in .html", ended.stdout + ended.stderr)

    def test_a_report_that_cannot_be_written_is_told_of(self):
        self.path("folder.html").mkdir()
        ended = self.compare("--report", "folder.html", code=7)
        self.assertIn("folder.html", ended.stderr)

    def test_annotations_in_a_workflow(self):
        summary = self.path("summary.md")
        summary.write_text("before\n")
        ended = self.compare(error=1, code=1, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
        lines = [line for line in ended.stdout.splitlines() if line.startswith("::")]
        self.assertEqual(lines[0], "::error title=vernier::1 of 2 outputs does not match.")
        self.assertRegex(lines[1], r"^::error title=y::A vs. B: 1 of 6 elements out of tolerance")
        self.assertEqual(len(lines), 2)
        self.assertTrue(summary.read_text().startswith("before\n### "))

    def test_no_annotations_elsewhere_or_when_all_is_well(self):
        self.assertNotIn("::", self.compare(error=1, code=1).stdout.replace("Command:", ""))
        self.assertNotIn("::error", self.compare(GITHUB_ACTIONS="true").stdout)


class Records(Case):
    """Reports of records that were made by hand."""

    def test_names_cannot_leave_their_places(self):
        name = records.HOSTILE + "\n| ` @someone ]]> --> :: %0A \x1b[31m \x00"
        record = records.network(1, first_bad=0, names=[name])
        page = self.report(record, "o.html")
        self.assertNotIn("<img", page)
        self.assertEqual(page.count("</script>"), 3)
        self.assertEqual(data_of(page)["record"]["pairs"][0]["outputs"][0]["name"], name)
        case = ElementTree.fromstring(self.report(record, "o.xml")).find("testsuite[@name='onnxrt vs. openvino']/*")
        self.assertIn("<img src=x", case.get("name"))
        self.assertNotIn("\x1b", case.get("name"))
        text = self.report(record, "o.md")
        self.assertNotIn("<img", text)
        self.assertNotIn("@someone", text)
        rows = [line for line in text.splitlines() if line.startswith("| &lt;")]
        self.assertEqual(len(rows), 1, text)
        self.assertEqual(len(re.findall(r"(?<!\\)\|", rows[0])), 6)

    def test_annotations_cannot_be_forged_by_names(self):
        names = ["y\n::set-output name=x::1,2:3%", "out\n::error title=x::forged\n::stop-commands::tok",
                 "z\n \t\u2003::stop-commands::tok\r::debug::x", "##[error]w", "plain"]
        for path, values in (("a.json", [1]), ("b.json", [2])):
            write_results(self.path(path), "A" if path == "a.json" else "B\n::debug::runner",
                          [{name: ((1,), values) for name in names}])
        for words in ([], ["-v"], ["--strict", "--check-error-stat", "max"]):
            ended = self.vernier("compare", "a.json", "b.json", *words, GITHUB_ACTIONS="true")
            self.assertEqual(ended.returncode, 1, ended.stderr)
            said = re.split("[\r\n]", ended.stdout + "\n" + ended.stderr)
            seen = [line for line in said if re.match(r"\s*::", line)]
            self.assertEqual(len(seen), 1 + len(names), seen)
            for line in seen:
                self.assertRegex(line, r"^::error title=(vernier|y%0A|out%0A|z%0A|##\[|plain)")
            self.assertIn("title=y%0A%3A%3Aset-output name=x%3A%3A1%2C2%3A3%25::", seen[1])
            self.assertEqual([line for line in said if "##[" in line and line not in seen], [])
        # A name is in one piece wherever it stands below the log, in a workflow or not.
        below = self.vernier("compare", "a.json", "b.json").stdout.split("worst outputs")[1]
        self.assertIn("out\\x0a::error title=x::forged\\x0a::stop-commands::tok", below)
        self.assertNotRegex(below, r"(?m)^\s*::")

    def test_markdown(self):
        record = records.network(3, first_bad=2, names=["conv_1", "relu", "logits|x"])
        expected = pathlib.Path(__file__).with_name("expected.md")
        self.assertEqual(self.report(record, "o.md"), expected.read_text())

    def test_markdown_fits_a_comment(self):
        names = [f"{i}" * 4000 for i in range(300)]
        record = records.network(300, first_bad=0, names=names)
        record["faults"] = record["notes"] = ["x" * 5000] * 40
        self.assertLess(len(self.report(record, "o.md")), 65536)

    def test_a_thousand_layers(self):
        self.save(records.network(1000, first_bad=600))
        start = time.monotonic()
        ended = self.vernier("report", "record.json", "-o", "o.html")
        took = time.monotonic() - start
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertLess(self.path("o.html").stat().st_size, 3_000_000)
        print(f"a page of 1,000 layers took {took:.2f} s", file=sys.stderr)

    def test_a_page_loads_nothing_and_runs_no_scripts_but_its_own(self):
        page = self.report(records.network(2, first_bad=1), "o.html")
        self.assertNotRegex(page.split('<script id="record"')[0].split("d3js.org")[0], r'(src|href)="(?!data:|#)')
        nonce = re.search(r"script-src 'nonce-(\w+)'", page)[1]
        self.assertEqual(len(re.findall(f'<script nonce="{nonce}">', page)), 2)
        other = self.report(records.network(3, first_bad=1), "o.html")
        self.assertNotIn(nonce, other)

    def test_files_that_are_no_records(self):
        for text in ("", "{", "[]", "{}", '{"schema_version": "x"}', '{"schema_version": 99}',
                     '{"schema_version": 1, "pairs": 3}', '{"schema_version": 1, "pairs": [1]}',
                     '{"schema_version": 1, "pairs": [], "runners": [{"name": 7}]}',
                     '{"schema_version": 1, "culprits": [], "layers": []}',
                     '{"schema_version": 1, "pairs": [], "exit_code": 1e99}'):
            self.path("bad.json").write_text(text)
            ended = self.vernier("report", "bad.json", "-o", "o.html")
            self.assertEqual(ended.returncode, 3, text)
            self.assertRegex(ended.stderr, r"^\[!\] 'bad.json'")
            self.assertEqual(len(ended.stderr.strip().splitlines()), 1)
        self.assertEqual(self.vernier("report", "missing.json", "-o", "o.html").returncode, 3)
        self.assertFalse(self.path("o.html").exists())

    def test_an_old_record_has_a_page_too(self):
        record = records.network(3, first_bad=1)
        for field in ("origin", "graph"):
            del record[field]
        for output in record["pairs"][0]["outputs"]:
            del output["worst_iteration"]["charts"]
        data = data_of(self.report(record, "o.html"))["record"]
        self.assertEqual(len(data["pairs"][0]["outputs"]), 3)
        self.assertEqual(data["command"], "vernier run net.onnx")


if __name__ == "__main__":
    unittest.main()
