#!/usr/bin/env python3
"""Mutation testing of the judge: all mutants are compiled into one test program, and a variable selects one.

    cargo install cargo-mutants --locked
    pip install tree_sitter tree_sitter_rust
    python3 crates/replay/mutants.py FOLDER [--jobs N] [--only TEXT] [--since COMMIT] [--again] [--argued]

cargo-mutants lists the mutants of `crates/replay` and of `crates/ir/src/validate.rs`, but building each of them takes
far longer than testing it. So the sources are copied to FOLDER (best in memory), and every mutated expression becomes
`if mutant(N) { mutated } else { original }`: functions return early, match arms get a condition. A mutant that does not
compile in this form is left out and listed as such.

Then each test of `selvedge-replay`, each unit test of the validator and each record of the evidence runs once without
a mutant, and writes down which of the conditions `mutant(N)` it came to, and its time. A test that never comes to the
condition of a mutant runs as without it. So only those that do are run for a mutant, with MUTANT=N in the environment,
the quick ones first, until one fails. No test is left out for its time.

`--since COMMIT` is about the mutants in lines that are newer than a commit, and leaves all others out.

FOLDER/results.jsonl has a line for each mutant: `caught`, `timeout` (caught as well), `missed`, or `unbuilt`, and which
test told. A second run goes on where the first one stopped; `--again` only tests the missed ones once more, after
tests were added. Those that `mutants.md` argues to be equivalent are not run, unless `--argued` asks for it: one that
is caught then is no longer argued.
"""
import argparse, hashlib, json, os, re, shutil, signal, subprocess, sys, threading, time
from pathlib import Path
from resource import RLIMIT_AS, RLIMIT_CPU, setrlimit

import tree_sitter_rust
from tree_sitter import Language, Parser

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ["crates/replay/src", "crates/ir/src/validate.rs", "crates/ir/src/lib.rs"]
FILES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "crates/replay/src").rglob("*.rs"))]
FILES += ["crates/ir/src/validate.rs", "crates/ir/src/lib.rs"]
# What the condition of a mutant calls. With MUTANTS_REACHED=FILE the byte N of the file tells that N was asked for.
SWITCH = """
#[doc(hidden)]
pub(crate) struct Mutants(u32, Option<(std::fs::File, Vec<std::sync::atomic::AtomicBool>)>);

impl Mutants {
    fn new() -> Mutants {
        let number = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let path = std::env::var_os("MUTANTS_REACHED");
        let file = path.map(|path| std::fs::OpenOptions::new().write(true).open(path).unwrap());
        Mutants(number, file.map(|file| (file, (0..10_000).map(|_| false.into()).collect())))
    }
}

#[doc(hidden)]
pub(crate) fn mutant(number: u32) -> bool {
    static MUTANTS: std::sync::LazyLock<Mutants> = std::sync::LazyLock::new(Mutants::new);
    let Mutants(active, reached) = &*MUTANTS;
    if let Some((file, reached)) = reached {
        if !reached[number as usize].swap(true, std::sync::atomic::Ordering::Relaxed) {
            std::os::unix::fs::FileExt::write_all_at(file, &[1], number.into()).unwrap();
        }
    }
    *active == number
}
"""
# A list in place of another one, where a function returns some iterator.
SWITCH += """
#[doc(hidden)]
pub(crate) enum Either<A, B> {
    Mutated(A),
    Original(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Either::Mutated(list) => list.next(),
            Either::Original(list) => list.next(),
        }
    }
}
"""
# Many mutants are `Default::default()`, which few types of ours have. They get one: some value is a good mutant.
DEFAULTS = {
    "crates/ir/src/lib.rs": {
        **{name: f"{name}::from_raw_unchecked(0)" for name in ["VarId", "LocId", "EdgeId", "ProcId", "EntryId"]},
        **{f"tts::{name}": f"tts::{name}::from_raw_unchecked(0)" for name in ["SharedId", "LocalId", "RuleId"]},
        "tts::Start": "tts::Start { shared: Default::default(), threads: Vec::new(), any: Vec::new() }",
        "trace::ThreadId": "trace::ThreadId(0)",
        "trace::Step": "trace::Step { thread: Default::default(), edge: Default::default(), choices: Vec::new(), "
                       "passive: Vec::new(), fresh: Vec::new(), body: None }",
        "Value": "Value::Bool(false)", "Ty": "Ty::Bool", "Expr": "Expr::Bool(false)",
        "bits::Range": "bits::Range::Never",
    },
    "crates/check/src/lib.rs": {
        "formula::FormulaId": "formula::FormulaId(0)",
        "formula::Atom": "formula::Atom::Result(0)",
        "Role": "Role::Prelude",
        "execution::Frame": "execution::Frame { proc: Default::default(), loc: Default::default(), call: None, "
                            "locals: Vec::new() }",
        "execution::Violation": "execution::Violation::Together(Vec::new())",
    },
    "crates/replay/src/semantics.rs": {"Control": "Control::End", "Child": "Child::Spawn(Default::default())"},
    "crates/replay/src/interpreter.rs": {"Outcome": "Outcome::Blocked", "Illegal": "Illegal::WrongChoices"},
    "crates/replay/src/judge.rs": {"Judged": "Judged::Certified"},
    "crates/replay/src/position.rs": {"Position": "Position { calls: Vec::new(), loc: Default::default() }"},
    "crates/replay/src/certificate/mod.rs": {
        "Accepted": "Accepted::Certified", "Refused": "Refused::Flawed(Flaw::Step)", "Flaw": "Flaw::Step"},
    "crates/replay/src/certificate/sat.rs": {"Lit": "Lit(1)"},
    "crates/replay/src/certificate/route.rs": {"To": "To::Gone", "Mode": "Mode::Alone",
                                               "Route": "Route { nodes: vec![Vec::new()] }"},
    "crates/replay/src/certificate/concrete.rs": {"Way": "Way { now: Vec::new(), new: None }"},
    "crates/replay/src/certificate/shapes/state.rs": {"Seen": "Seen::new(0, Vec::new())"},
    "crates/replay/src/certificate/integers/constant.rs": {"Known": "Known { values: Vec::new() }"},
}

# The one test that is run record by record.
EVIDENCE = "evidence::recorded_evidence_is_judged_as_it_was"


def run(command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


def listed(since):
    """Returns the mutants of cargo-mutants, numbered from 1, the most trusted files first; all, or those in lines that
    are newer than a commit."""
    first = ["semantics", "domain", "interpreter", "src/replay", "judge", "lrat", "certificate/sat", "encode"]
    rank = lambda mutant: next((place for place, name in enumerate(first) if name in mutant["file"]), len(first))
    mutants = []
    for package, more in [("selvedge-replay", []), ("selvedge-ir", ["-f", "crates/ir/src/validate.rs"])]:
        found = run(["cargo", "mutants", "--list", "--json", "-p", package, *more], cwd=ROOT)
        found.check_returncode()
        mutants += json.loads(found.stdout)
    newer = lines_since(since) if since else None
    mutants.sort(key=lambda mutant: (rank(mutant), mutant["package"] != "selvedge-replay", mutant["file"]))
    seen = {}
    for number, mutant in enumerate(mutants, 1):
        mutant["number"] = number
        # Its name without the place, and which one it is of those in its function that read the same.
        name = re.sub(r":\d+:\d+:", ":", mutant["name"])
        seen[name] = seen.get(name, 0) + 1
        mutant["key"] = f"{name} #{seen[name]}"
    return [mutant for mutant in mutants if newer is None or is_in(mutant, newer)]


def lines_since(commit):
    """Returns the numbers of the lines of each file that are newer than a commit."""
    diff = run(["git", "diff", "--unified=0", commit, "--", *FILES], cwd=ROOT)
    diff.check_returncode()
    lines, file = {}, None
    for line in diff.stdout.splitlines():
        if line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(found[1]), int(found[2] or 1)
            lines.setdefault(file, set()).update(range(first, first + count))
    return lines


def is_in(mutant, lines):
    """Returns whether a mutant changes one of some lines; one of a whole function also if its body has one of them."""
    span = mutant["function"]["span"] if mutant["genre"] == "FnValue" else mutant["span"]
    return not lines.get(mutant["file"], set()).isdisjoint(range(span["start"]["line"], span["end"]["line"] + 1))


class Source:
    """One file, and the mutants in it."""

    def __init__(self, path, mutants):
        self.text = (ROOT / path).read_bytes()
        self.tree = Parser(Language(tree_sitter_rust.language())).parse(self.text)
        lines = self.text.decode().split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()) + 1)
        self.place = lambda at: starts[at["line"] - 1] + len(lines[at["line"] - 1][: at["column"] - 1].encode())
        self.at = {}
        for mutant in mutants:
            node = self.node(mutant)
            if node is not None:
                self.at.setdefault((node.start_byte, node.end_byte, node.type), []).append(mutant)

    def node(self, mutant):
        """Returns the part of the tree that a mutant changes."""
        start, end = self.place(mutant["span"]["start"]), self.place(mutant["span"]["end"])
        end = start if mutant["genre"] == "StructField" else end  # The span ends behind a comma.
        node = self.tree.root_node.descendant_for_byte_range(start, end)
        kinds = {
            "FnValue": ["function_item"],
            "BinaryOperator": ["binary_expression", "compound_assignment_expr"],
            "UnaryOperator": ["unary_expression"],
            "MatchArm": ["match_arm"],
            "MatchArmGuard": None,
            "StructField": ["field_initializer", "shorthand_field_initializer"],
        }[mutant["genre"]]
        while kinds and node is not None and node.type not in kinds:
            node = node.parent
        return node

    def plain(self, node):
        return self.text[node.start_byte : node.end_byte].decode()

    def inside(self, node):
        """Renders a node with all mutants below it."""
        out, at = [], node.start_byte
        for child in node.children:
            out += [self.text[at : child.start_byte].decode(), self.render(child)]
            at = child.end_byte
        return "".join(out) + self.text[at : node.end_byte].decode()

    def render(self, node):
        found = self.at.get((node.start_byte, node.end_byte, node.type), [])
        original = self.inside(node)
        branch = lambda m, text: f"/*<{m['number']}*/ {text} /*{m['number']}>*/"
        is_it = lambda m: f"crate::mutant({m['number']})"
        early, lists = [], []
        for mutant in found:
            genre, new = mutant["genre"], mutant["replacement"]
            if genre == "FnValue" and "impl Iterator" in mutant["function"]["return_type"]:
                lists.append(mutant)
            elif genre == "FnValue":
                early.append(branch(mutant, f"if {is_it(mutant)} {{ return {new}; }}"))
            elif genre == "BinaryOperator":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                changed = f"{self.plain(left)} {new} {self.plain(right)}"
                original = f"(if {is_it(mutant)} {{ {branch(mutant, changed)} }} else {{ {original} }})"
            elif genre == "UnaryOperator":
                changed = self.plain(node)[1:]
                original = f"(if {is_it(mutant)} {{ {branch(mutant, changed)} }} else {{ {original} }})"
            elif genre == "MatchArmGuard":
                original = f"(if {is_it(mutant)} {{ {branch(mutant, new)} }} else {{ {original} }})"
            elif genre == "MatchArm":
                pattern = node.child_by_field_name("pattern")
                guard = pattern.child_by_field_name("condition")
                arm = original[len(self.inside(pattern)) :] if pattern.start_byte == node.start_byte else None
                if arm is None:
                    continue
                condition = branch(mutant, f"!{is_it(mutant)}") + (f" && ({self.render(guard)})" if guard else "")
                bare = self.text[pattern.start_byte : guard.start_byte].decode() if guard else self.plain(pattern)
                bare = re.sub(r"\bif\s*$", "", bare)
                original = f"{bare} if {condition}{arm}"
            elif genre == "StructField":
                base = next((n for n in node.parent.children if n.type == "base_field_initializer"), None)
                if base is None:
                    continue
                name = self.plain(node.child_by_field_name("field") or node.children[0])
                value = node.child_by_field_name("value")
                value = self.inside(value) if value else name
                taken = f"({self.plain(base)[2:]}).{name}"
                original = f"{name}: (if {is_it(mutant)} {{ {branch(mutant, taken)} }} else {{ {value} }})"
        if early:
            body = self.render(node.child_by_field_name("body"))
            original = original[: -len(body)] + "{ " + " ".join(early) + body[1:]
        body = ""
        for mutant in lists:
            body = body or self.render(node.child_by_field_name("body"))
            either = (f"if {is_it(mutant)} {{ crate::Either::Mutated({branch(mutant, mutant['replacement'])}) }} "
                      f"else {{ crate::Either::Original({body}) }}")
            head, body = original[: -len(body)], "{ " + either + " }"
            original = head + body
        return original


def write(folder, mutants):
    """Writes the sources with some of the mutants; returns the numbers of those that are in the text."""
    written = set()
    by_file = {path: [] for path in FILES}
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    for path in DEFAULTS.keys() - by_file.keys():
        write_if_new(folder / path, (ROOT / path).read_text() + defaults(path))
    for path, its in by_file.items():
        source = Source(path, its)
        text = source.render(source.tree.root_node) + defaults(path)
        if path in ("crates/replay/src/lib.rs", "crates/ir/src/lib.rs"):
            text += SWITCH
        write_if_new(folder / path, text)
        written.update(int(number) for number in re.findall(r"/\*<(\d+)\*/", text))
    return written


def defaults(path):
    """Returns the values that types of a file have as a mutant."""
    values = DEFAULTS.get(path, {}).items()
    return "".join(f"\nimpl Default for {name} {{ fn default() -> Self {{ {value} }} }}" for name, value in values)


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def culprits(message, folder, by_number):
    """Returns the mutants that an error of the compiler is about: the one around it, or else those inside of it."""
    found = set()
    for span in message["spans"]:
        if not span["is_primary"] or not span["file_name"].startswith("crates/"):
            continue
        text = (folder / span["file_name"]).read_bytes().decode()
        raw = text.encode()
        start = len(raw[: span["byte_start"]].decode())
        end = len(raw[: span["byte_end"]].decode())
        around = [int(n) for n in by_number
                  if (at := text.find(f"/*<{n}*/")) >= 0 and at <= start and text.find(f"/*{n}>*/") >= end - 1]
        inside = [int(n) for n in re.findall(r"/\*<(\d+)\*/", text[start:end])]
        if (message["code"] or {}).get("code") == "E0004":
            below = [int(n) for n in re.findall(r"/\*<(\d+)\*/", text[start : start + 2000])]
            inside = [n for n in below if by_number[n]["genre"] == "MatchArm"][:2]
            around = []
        found.update(around or inside or nearest(text, start))
    return found


def nearest(text, start):
    line = text[text.rfind("\n", 0, start) + 1 : text.find("\n", start)]
    return [int(n) for n in re.findall(r"/\*<(\d+)\*/", line)]


def environment(folder):
    return dict(os.environ, CARGO_TARGET_DIR=str(folder / "target"), CARGO_PROFILE_DEV_OPT_LEVEL="1",
                CARGO_PROFILE_DEV_DEBUG="false", CARGO_INCREMENTAL="1")


def compiled(folder, programs, package, *targets):
    """Builds the test programs of a package and adds their paths; returns an error or `None`, and all messages."""
    built = run(["cargo", "test", "-p", package, *targets, "--no-run", "--message-format=json"], cwd=folder,
                env=environment(folder))
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    for message in messages:
        if message.get("executable") and message.get("profile", {}).get("test"):
            name = message["target"]["name"]
            short = "suite" if name == "suite" else "ir" if package == "selvedge-ir" else "unit"
            programs[short] = message["executable"]
    return built.stderr[-3000:] if built.returncode != 0 else None, messages


def build(folder, mutants):
    """Builds the test programs; returns them with the numbers of the mutants that do not compile in this form."""
    programs = {}
    by_number = {mutant["number"]: mutant for mutant in mutants}
    # Behind `Result<(` and the like an iterator cannot be exchanged.
    is_inner = lambda kind: "impl Iterator" in kind and not kind.startswith(("-> impl Iterator", "impl Iterator"))
    dropped = {m["number"] for m in mutants if m["genre"] == "FnValue" and is_inner(m["function"]["return_type"])}
    # What did not compile in the last run is left out at once.
    last = folder / "unbuilt.json"
    unbuilt = set(json.loads(last.read_text())) if last.exists() else set()
    dropped |= {m["number"] for m in mutants if m["key"] in unbuilt}
    for attempt in range(60):
        written = write(folder, [mutant for mutant in mutants if mutant["number"] not in dropped])
        failed, messages = compiled(folder, programs, "selvedge-replay")
        if not failed:
            break
        told = [m["message"] for m in messages if m["reason"] == "compiler-message"]
        errors = [message for message in told if message["level"] == "error"]
        new = set().union(*[culprits(error, folder, by_number) for error in errors]) - dropped if errors else set()
        for error in errors if os.environ.get("SHOW") else []:
            print(error["rendered"])
        print(f"attempt {attempt}: {len(errors)} errors, {len(new)} mutants left out", flush=True)
        if not new:
            sys.exit("\n".join(error["rendered"] or "" for error in errors[:5]) or failed)
        dropped |= new
    last.write_text(json.dumps([m["key"] for m in mutants if m["number"] in dropped]))
    failed, _ = compiled(folder, programs, "selvedge-ir", "--lib")
    if failed:
        sys.exit(failed)
    return {mutant["number"] for mutant in mutants} - written, programs


def counts(program, name):
    """Returns whether a test counts: `trust` counts lines and would notice anything."""
    return "validate" in name if program == "ir" else not name.startswith(("trust::", EVIDENCE))


class Tests:
    """All tests, with the time of each and the mutants whose conditions it comes to."""

    def __init__(self, folder, programs, jobs):
        self.folder, self.programs = folder, programs
        digest = hashlib.sha256()
        for path in [*programs.values(), ROOT / "crates/replay/tests/evidence.jsonl"]:
            digest.update(Path(path).read_bytes())
        file = folder / "reached.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        if known.get("digest") != digest.hexdigest():
            rows = in_parallel(jobs, self.all(), self.reached)
            known = {"digest": digest.hexdigest(), "tests": sorted(rows, key=lambda row: row[1])}
            file.write_text(json.dumps(known))
        # In ascending order of their times.
        self.rows = [((program, name), seconds, set(reached)) for (program, name), seconds, reached in known["tests"]]

    def all(self):
        tests = []
        for program, path in self.programs.items():
            listed = run([path, "--list", "--format=terse"]).stdout.splitlines()
            names = [line.removesuffix(": test") for line in listed if line.endswith(": test")]
            tests += [(program, name) for name in names if counts(program, name)]
        n_records = len((self.folder / "crates/replay/tests/evidence.jsonl").read_text().splitlines())
        return tests + [("evidence", str(number)) for number in range(n_records)]

    def reached(self, test):
        """Runs one test without a mutant; it must succeed."""
        note = self.folder / f"reached.{threading.get_ident()}"
        note.write_bytes(bytes(10_000))
        start = time.time()
        ended = self.start(test[0], [test[1]], {"MUTANTS_REACHED": str(note)}, 3600)
        if ended != "passed":
            sys.exit(f"without a mutant, {test} has {ended}")
        return test, time.time() - start, [number for number, is_there in enumerate(note.read_bytes()) if is_there]

    def start(self, program, names, variables, patience):
        """Runs some tests of a program; returns whether all have passed."""
        words = ["--test-threads=1", "--exact", *names]
        env = dict(os.environ, CARGO_MANIFEST_DIR=str(self.folder / "crates/replay"), **variables)
        if program == "evidence":
            program, words, env["EVIDENCE"] = "suite", [*words[:2], EVIDENCE], ",".join(names)
        crate = "ir" if program == "ir" else "replay"

        def limit():
            setrlimit(RLIMIT_CPU, (patience,) * 2)
            setrlimit(RLIMIT_AS, (8 << 30,) * 2)

        try:  # A mutant may also wait for ever, for a solver that was not asked.
            ended = subprocess.run([self.programs[program], *words], cwd=self.folder / "crates" / crate, env=env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit,
                                   timeout=10 * patience)
        except subprocess.TimeoutExpired:
            return "timeout"
        if ended.returncode == 0:
            return "passed"
        return "timeout" if -ended.returncode in (signal.SIGXCPU, signal.SIGKILL) else "caught"

    def judge(self, number):
        """Returns whether the tests notice a mutant, and which of them: the quick ones of a program run together."""
        asked = [(test, seconds) for test, seconds, reached in self.rows if number in reached]
        groups = []
        for (program, name), seconds in asked:
            same = [group for group in groups if group[0] == program and group[2] < 1]
            if not same:
                groups.append(same := [program, [], 0.0])
                same = [same]
            same[0][1].append(name)
            same[0][2] += seconds
        for program, names, seconds in groups:
            result = self.start(program, names, {"MUTANT": str(number)}, int(15 + 10 * seconds))
            if result != "passed":
                return result, f"{program} {' '.join(names[:3])}"
        return "missed", f"{len(asked)} tests come to it"


def in_parallel(jobs, items, work):
    """Does something with each item, in threads; returns the results."""
    waiting, done, lock, failed = list(items), [], threading.Lock(), []

    def worker():
        while not failed:
            with lock:
                if not waiting:
                    return
                item = waiting.pop(0)
            try:
                result = work(item)
            except BaseException as error:
                failed.append(error)
                return
            with lock:
                done.append(result)

    threads = [threading.Thread(target=worker) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return done


def main():
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--only", default="")
    words.add_argument("--since", default="")
    words.add_argument("--again", action="store_true")
    words.add_argument("--argued", action="store_true", help="try those as well that mutants.md argues")
    options = words.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for part in ["Cargo.toml", "Cargo.lock", "crates", "docs", "tests", "examples"]:
        copy(ROOT / part, folder / part)
    if (ROOT / ".tools").exists() and not (folder / ".tools").exists():
        (folder / ".tools").symlink_to((ROOT / ".tools").resolve())
    mutants = listed(options.since)
    dropped, programs = build(folder, mutants)
    results = folder / "results.jsonl"
    known = {}
    if results.exists():
        known = {row["key"]: row["result"] for row in map(json.loads, results.read_text().splitlines())}
    is_argued = argued()
    is_new = lambda key: known.get(key) == "missed" if options.again else key not in known
    is_due = lambda key: is_new(key) and (options.argued or not is_argued(key))
    waiting = [mutant for mutant in mutants if options.only in mutant["name"] and is_due(mutant["key"])]
    tests = Tests(folder, programs, options.jobs)
    start, left = time.time(), [len(waiting)]

    def work(mutant):
        result, by = ("unbuilt", "") if mutant["number"] in dropped else tests.judge(mutant["number"])
        known[mutant["key"]] = result
        left[0] -= 1
        with results.open("a") as file:
            file.write(json.dumps({"key": mutant["key"], "result": result, "by": by}) + "\n")
        print(f"{time.time() - start:6.0f} s, {left[0]} left: {result:8} {mutant['name']} ({by})", flush=True)

    in_parallel(options.jobs, waiting, work)
    report(mutants, known)


def copy(source, to):
    """Copies a file or folder, leaving files alone that are the same, so that they are not compiled again."""
    if source.is_dir():
        for part in source.iterdir():
            copy(part, to / part.name)
    elif not to.exists() or to.read_bytes() != source.read_bytes():
        is_mutated = any(str(source.relative_to(ROOT)).startswith(path) for path in [*SOURCES, *DEFAULTS])
        if is_mutated and to.exists():
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to)


def argued():
    """Returns a test whether the page argues that a mutant changes nothing: a line stands for all mutants that read the
    same, or for one of them (`#2` behind it)."""
    page = Path(__file__).parent / "mutants.md"
    lines = re.findall(r"^- `(.*)`((?: #\d+)*)$", page.read_text(), re.M) if page.exists() else []
    keys = {name + number for name, numbers in lines for number in re.findall(r" #\d+", numbers) or [""]}
    return lambda key: key in keys or key.rsplit(" #", 1)[0] in keys


def report(mutants, known):
    """Prints the missed and the unbuilt mutants, then the numbers of all, and of the missed ones by file."""
    is_argued, counts, by_file = argued(), {}, {}
    for mutant in mutants:
        result = known.get(mutant["key"], "not tried")
        if result in ("missed", "not tried") and is_argued(mutant["key"]):
            result = "argued"
        counts[result] = counts.get(result, 0) + 1
        if result == "missed":
            by_file[mutant["file"]] = by_file.get(mutant["file"], 0) + 1
        if result in ("missed", "unbuilt"):
            print(result, mutant["name"])
    print(f"{len(mutants)} mutants:", ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    for file, count in sorted(by_file.items(), key=lambda pair: -pair[1]):
        print(f"{count:4} missed in {file}")


main()
