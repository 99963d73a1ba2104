"""The module as a program of Python uses it. Run with `python -m unittest` beside an installed wheel."""

import doctest
import json
import pathlib
import threading
import time
import unittest

import selvedge

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCK = ROOT / "examples" / "lock.bp"
FIXED = ROOT / "examples" / "lock_fixed.bp"

# Its states are too many to visit.
NAMES = ["v%d" % number for number in range(60)]
ENDLESS = "%s void main() begin while 1 do %s assert(!(%s)); od; end" % (
    " ".join("decl %s := 0;" % name for name in NAMES),
    " ".join("if * then %s := !%s; fi;" % (name, name) for name in NAMES),
    " & ".join(NAMES),
)


class Checks(unittest.TestCase):
    def test_an_execution_is_a_list_of_steps(self):
        program = selvedge.Program.from_path(LOCK)
        answer = selvedge.check(program)
        self.assertEqual(answer.verdict, "unsafe")
        self.assertEqual(answer.trace.failure.statement, "assert(!inside)")
        changes = [(change.variable, change.after) for step in answer.trace.steps for change in step.changes]
        self.assertIn(("inside", True), changes)
        again = selvedge.Trace.from_json(answer.to_json(), program)
        self.assertEqual(len(again), len(answer.trace))
        with self.assertRaises(selvedge.SelvedgeError):
            answer.trace.verify(selvedge.Program.from_path(FIXED))

    def test_a_certificate_is_verified_by_whoever_reads_it(self):
        program = selvedge.Program.from_path(FIXED)
        answer = selvedge.check(program)
        self.assertEqual((answer.verdict, answer.certified), ("safe", True))
        certificate = selvedge.Certificate.from_json(answer.certificate.to_json())
        self.assertEqual(certificate.verify(program), "certified")
        with self.assertRaises(selvedge.SelvedgeError):
            certificate.verify(selvedge.Program.from_path(LOCK))
        self.assertEqual(answer.verify(), "certified")

    def test_reports_and_pages(self):
        answer = selvedge.check(selvedge.Program.from_path(LOCK))
        self.assertEqual(json.loads(answer.to_json())["results"][0]["verdict"], "unsafe")
        self.assertIn("assert(!inside)", answer.to_html())
        self.assertTrue(answer._repr_html_().startswith("<iframe"))

    def test_mistakes_are_exceptions_with_places(self):
        with self.assertRaisesRegex(selvedge.SelvedgeError, "<text>:1:19"):
            selvedge.Program("void main() begin x := 1; end")
        with self.assertRaises(OSError):
            selvedge.Program.from_path("no/such/file.bp")
        program = selvedge.Program("void main() begin skip; end")
        with self.assertRaisesRegex(ValueError, "no label"):
            selvedge.check(program, selvedge.Question(label="L"))
        with self.assertRaises(ValueError):
            selvedge.Question(initial="many")
        with self.assertRaises(ValueError):
            selvedge.Question(properties=["beauty"])

    def test_other_threads_run_meanwhile_and_can_cancel(self):
        cancel, counted = selvedge.CancelToken(), []

        def count():
            for number in range(20):
                counted.append(number)
                time.sleep(0.01)
            cancel.cancel()

        thread = threading.Thread(target=count)
        thread.start()
        limits = selvedge.Limits(engine="exhaustive", cancel=cancel)
        answer = selvedge.check(selvedge.Program(ENDLESS), limits=limits)
        thread.join()
        self.assertEqual((answer.verdict, len(counted)), ("unknown", 20))

    def test_a_time_limit_ends_in_unknown(self):
        limits = selvedge.Limits(engine="exhaustive", time=0.2)
        answer = selvedge.check(selvedge.Program(ENDLESS), limits=limits)
        self.assertEqual(answer.verdict, "unknown")
        self.assertIn("time limit", answer.reason)

    def test_frames_of_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = selvedge.check(selvedge.Program.from_path(LOCK)).trace.to_frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns[:3]), ["thread", "line", "statement"])
        self.assertIn(True, list(frame["inside"]))

    def test_the_stubs_name_what_is_there(self):
        stubs = pathlib.Path(selvedge.__file__).with_name("__init__.pyi").read_text()
        for name in selvedge.__all__:
            self.assertRegex(stubs, r"(class|def) %s\b|%s: str" % (name, name))


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocFileSuite(str(ROOT / "python" / "README.md"), module_relative=False))
    return tests


if __name__ == "__main__":
    unittest.main()
