#!/usr/bin/env python3
"""Mutation testing of the judge: all mutants are compiled into one test program, and a variable selects one.

    cargo install cargo-mutants --locked
    pip install tree_sitter tree_sitter_rust
    python3 crates/replay/mutants.py FOLDER [--jobs N] [--only TEXT] [--again]

cargo-mutants lists the mutants of `crates/replay` and of `crates/ir/src/validate.rs`, but building each of them takes
ten times longer than testing it. So the sources are copied to FOLDER (best in memory), and every mutated expression
becomes `if mutant(N) { mutated } else { original }`: functions return early, match arms get a condition. A mutant that
does not compile in this form is left out and listed as such. Then the tests of `selvedge-replay` and the unit tests of
the validator run once for each mutant, with MUTANT=N in the environment: the quick ones first, then the recorded
evidence.

FOLDER/results.jsonl has a line for each mutant: `caught`, `timeout` (caught as well), `missed`, or `unbuilt`. A second
run goes on where the first one stopped; `--again` only tests the missed ones once more, after tests were added. Those
that `mutants.md` argues to be equivalent are listed apart.
"""
import argparse, json, os, re, shutil, signal, subprocess, sys, threading, time
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit

import tree_sitter_rust
from tree_sitter import Language, Parser

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ["crates/replay/src", "crates/ir/src/validate.rs", "crates/ir/src/lib.rs"]
FILES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "crates/replay/src").rglob("*.rs"))]
FILES += ["crates/ir/src/validate.rs", "crates/ir/src/lib.rs"]
SWITCH = """
#[doc(hidden)]
pub(crate) fn mutant(number: u32) -> bool {
    static ACTIVE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ACTIVE.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
}
"""
# The tests in stages, the quick ones first: the first failure decides. `trust` counts lines and would notice anything.
STAGES = [("suite", ["--skip", "evidence", "--skip", "trust", "--skip", "integers"]), ("unit", [])]
STAGES += [("suite", ["integers"]), ("suite", ["evidence"])]
VALIDATOR = [("ir", ["validate"])]


def run(command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


def listed():
    """Returns the mutants of cargo-mutants, numbered from 1, the most trusted files first."""
    first = ["semantics", "domain", "interpreter", "src/replay", "judge", "lrat", "certificate/sat", "encode"]
    rank = lambda mutant: next((place for place, name in enumerate(first) if name in mutant["file"]), len(first))
    mutants = []
    for package, more in [("selvedge-replay", []), ("selvedge-ir", ["-f", "crates/ir/src/validate.rs"])]:
        found = run(["cargo", "mutants", "--list", "--json", "-p", package, *more], cwd=ROOT)
        found.check_returncode()
        mutants += json.loads(found.stdout)
    mutants.sort(key=lambda mutant: (rank(mutant), mutant["package"] != "selvedge-replay", mutant["file"]))
    for number, mutant in enumerate(mutants, 1):
        mutant["number"] = number
    return mutants


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
        early = []
        for mutant in found:
            genre, new = mutant["genre"], mutant["replacement"]
            if genre == "FnValue":
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
        return original


def write(folder, mutants):
    """Writes the sources with some of the mutants; returns the numbers of those that are in the text."""
    written = set()
    by_file = {path: [] for path in FILES}
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    for path, its in by_file.items():
        source = Source(path, its)
        text = source.render(source.tree.root_node)
        if path in ("crates/replay/src/lib.rs", "crates/ir/src/lib.rs"):
            text += SWITCH
        write_if_new(folder / path, text)
        written.update(int(number) for number in re.findall(r"/\*<(\d+)\*/", text))
    return written


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
                CARGO_PROFILE_DEV_DEBUG="false", CARGO_INCREMENTAL="1", RUSTFLAGS="-Awarnings")


def build(folder, mutants):
    """Builds the test programs; returns them with the numbers of the mutants that do not compile in this form."""
    programs = {}
    by_number = {mutant["number"]: mutant for mutant in mutants}
    dropped = {m["number"] for m in mutants if m["genre"] == "FnValue" and "impl " in m["function"]["return_type"]}
    # What did not compile in the last run is left out at once.
    last = folder / "unbuilt.json"
    unbuilt = set(json.loads(last.read_text())) if last.exists() else set()
    dropped |= {m["number"] for m in mutants if m["name"] in unbuilt}
    for attempt in range(60):
        written = write(folder, [mutant for mutant in mutants if mutant["number"] not in dropped])
        # `check` is quick; the programs are built once nothing is left to drop.
        checked = run(["cargo", "check", "-p", "selvedge-replay", "--message-format=json"], cwd=folder,
                      env=environment(folder))
        messages = [json.loads(line) for line in checked.stdout.splitlines() if line.startswith("{")]
        told = [m["message"] for m in messages if m["reason"] == "compiler-message"]
        errors = [message for message in told if message["level"] == "error"]
        new = set().union(*[culprits(error, folder, by_number) for error in errors]) - dropped if errors else set()
        for error in errors if os.environ.get("SHOW") else []:
            print(error["rendered"])
        print(f"attempt {attempt}: {len(errors)} errors, {len(new)} mutants left out", flush=True)
        if checked.returncode == 0:
            break
        if not new:
            sys.exit("\n".join(error["rendered"] or "" for error in errors[:5]) or checked.stderr)
        dropped |= new
    last.write_text(json.dumps([m["name"] for m in mutants if m["number"] in dropped]))
    for package, targets in [("selvedge-replay", []), ("selvedge-ir", ["--lib"])]:
        built = run(["cargo", "test", "-p", package, *targets, "--no-run", "--message-format=json"], cwd=folder,
                    env=environment(folder))
        if built.returncode != 0:
            sys.exit(built.stdout[-3000:] + built.stderr[-3000:])
        for line in built.stdout.splitlines():
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("executable") and message.get("profile", {}).get("test"):
                name = message["target"]["name"]
                short = "suite" if name == "suite" else "ir" if package == "selvedge-ir" else "unit"
                programs[short] = message["executable"]
    return {mutant["number"] for mutant in mutants} - written, programs


def judged(folder, programs, mutant, patience, again=False):
    """Returns whether the tests notice a mutant. Those that the quick ones missed before begin with the evidence."""
    env = dict(os.environ, MUTANT=str(mutant["number"]), CARGO_MANIFEST_DIR=str(folder / "crates/replay"))
    stages = VALIDATOR + STAGES if mutant["package"] == "selvedge-ir" else STAGES
    stages = stages[::-1] if again else stages
    for program, words in stages:
        crate = "ir" if program == "ir" else "replay"
        command = [programs[program], "--test-threads=1", *words]
        limit = lambda: setrlimit(RLIMIT_CPU, (patience,) * 2)
        try:  # A mutant may also wait for ever, for a solver that was not asked.
            ended = subprocess.run(command, cwd=folder / "crates" / crate, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=limit, timeout=10 * patience)
        except subprocess.TimeoutExpired:
            return "timeout"
        if ended.returncode != 0:
            return "timeout" if -ended.returncode in (signal.SIGXCPU, signal.SIGKILL) else "caught"
    return "missed"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--only", default="")
    words.add_argument("--again", action="store_true")
    words.add_argument("--patience", type=int, default=25, help="seconds of processor time for a test program")
    options = words.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for part in ["Cargo.toml", "Cargo.lock", "crates", "docs", "tests", "examples"]:
        copy(ROOT / part, folder / part)
    if (ROOT / ".tools").exists() and not (folder / ".tools").exists():
        (folder / ".tools").symlink_to((ROOT / ".tools").resolve())
    mutants = listed()
    dropped, programs = build(folder, mutants)
    results = folder / "results.jsonl"
    known = {}
    if results.exists():
        known = {row["name"]: row["result"] for row in map(json.loads, results.read_text().splitlines())}
    is_due = lambda name: known.get(name) == "missed" if options.again else name not in known
    waiting = [mutant for mutant in mutants if options.only in mutant["name"] and is_due(mutant["name"])]
    baseline = judged(folder, programs, {"number": 0, "package": "selvedge-ir"}, 10 * options.patience)
    if baseline != "missed":
        sys.exit("the tests fail without a mutant")
    lock, start = threading.Lock(), time.time()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                mutant = waiting.pop(0)
            result = "unbuilt" if mutant["number"] in dropped else judged(
                folder, programs, mutant, options.patience, options.again)
            with lock:
                known[mutant["name"]] = result
                with results.open("a") as file:
                    file.write(json.dumps({"name": mutant["name"], "result": result}) + "\n")
                print(f"{time.time() - start:6.0f} s, {len(waiting)} left: {result:8} {mutant['name']}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report([m["name"] for m in mutants], known)


def copy(source, to):
    """Copies a file or folder, leaving files alone that are the same, so that they are not compiled again."""
    if source.is_dir():
        for part in source.iterdir():
            copy(part, to / part.name)
    elif not to.exists() or to.read_bytes() != source.read_bytes():
        is_mutated = any(str(source.relative_to(ROOT)).startswith(path) for path in SOURCES)
        if is_mutated and to.exists():
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to)


def report(names, known):
    page = Path(__file__).parent / "mutants.md"
    argued = page.read_text() if page.exists() else ""
    without_place = lambda name: re.sub(r":\d+:\d+:", ":", name)
    missed = [without_place(name) for name in names if known.get(name) == "missed"]
    counts = {}
    for name in names:
        result = known.get(name, "not tried")
        # A line of the page stands for one mutant; two that read the same need two.
        short = without_place(name)
        if result == "missed" and missed.count(short) <= argued.count(f"`{short}`"):
            result = "argued"
        counts[result] = counts.get(result, 0) + 1
        if result in ("missed", "unbuilt"):
            print(result, name)
    print(f"{len(names)} mutants:", ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))


main()
