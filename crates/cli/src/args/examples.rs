//! The examples and exit codes at the end of each help text.

pub(super) const EXIT_CODES: &str = "\
Exit codes:
    0  safe (or done)             11  time limit reached
   10  unsafe                     12  memory or node limit reached
    5  unknown                     1  invalid command line
  130  interrupted                 2  input unreadable or with errors
                                   6  internal error
  With several files, the exit code is the first of these that occurred:
  6, 130, 1, 2, 10, 12, 11, 5, 0.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  selvedge check driver.bp
      Check whether an assertion can fail, or the label ERROR or SLIC_ERROR can be reached.
  selvedge check --threads 3 queue.bp
      The same with at most 3 threads at a time; a spawn beyond that has no effect.
  selvedge check --label BAD --trace-out trace.json lock.bp
      Check whether the label BAD can be reached, and save the trace for `selvedge replay`.
  selvedge check --html report.html queue.bp
      Write an HTML report with the execution step by step, or with the proof.
  selvedge check --contexts 1..4 server.bp
      For recursive threads: check executions in which each thread has at most 1, 2, 3 and 4 turns.
  selvedge check --rounds 1..3 drivers.bp
      For any number of recursive threads: check executions of at most 1, 2 and 3 rounds
      (docs/rounds.md).
  selvedge check --time-limit 5m --memory-limit 4GB *.bp
      Check many files and print a summary at the end. The limits apply to each file.
  generate | selvedge check --format json -
      Read the program from standard input and write the answer as JSON.
  selvedge check --help-all
      The same help with the options that tune single engines.

A file can set options of the question in a comment at its beginning:
  // options: --threads 3
The report says so. Options of the command line come before them, and
--no-file-options ignores them.

The last line of standard output is VERIFICATION SUCCESSFUL, VERIFICATION FAILED or VERIFICATION
UNKNOWN (reason), even if the input has errors. Only an invalid command line ends without it.";

pub(super) const BOOM_EXAMPLES: &str = "\
Examples:
  selvedge boom --stats -t --threadbound 5 program.bp
  ln -s selvedge boom && ./boom -t program.bp
      The same under the name that SatAbs uses (docs/boom.md).

Standard output contains a line VERIFICATION SUCCESSFUL or VERIFICATION FAILED, or neither if the
answer is unknown.";

pub(super) const FMT_EXAMPLES: &str = "\
Examples:
  selvedge fmt program.bp        Rewrite the file.
  selvedge fmt - < program.bp    Read standard input, write standard output.
  selvedge fmt --check *.bp      Write nothing; list the files that would change, and exit with
                                 code 2 if there are any. Useful in continuous integration.";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  selvedge explain SV0012
  selvedge explain            List all codes.";

pub(super) const REPLAY_EXAMPLES: &str = "\
Examples:
  selvedge check --threads 3 --trace-out trace.json program.bp
  selvedge replay --threads 3 trace.json program.bp

You ask the question, so repeat the options of the check; the file does not decide what is asked.
Exit code 10: the trace is an execution of the program and ends in an error that you asked for. Exit
code 2: the file is not a trace, answers another question (the message has the options that ask it),
belongs to another program, or cannot be executed; the message names the step.";

pub(super) const VALIDATE_EXAMPLES: &str = "\
Examples:
  selvedge check --witness witness.yml program.c
  selvedge validate witness.yml program.c

A violation witness is valid if an execution to the error passes its places in their order; a
correctness witness is valid if its invariants hold and the program is safe. Exit code 10: a valid
violation witness. Exit code 0: a valid correctness witness. Exit code 2: the file is not a witness,
is about another text, or is not valid. Exit code 5: not decided.";

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  selvedge check --threads 3 --certificate proof.json program.bp
  selvedge verify --threads 3 proof.json program.bp
  selvedge check --certificate proof.json system.pds
  selvedge verify proof.json system.pds

You ask the question, so repeat the options of the check; the file does not decide what is proved.
Exit code 0: it proves that no error that you asked for can be reached. Exit code 2: the file is not
a certificate, answers another question (the message has the options that ask it), belongs to
another program, or does not prove it safe; the message names the flaw. The checker shares no code
with the engines, and uses a different solver.";

pub(super) const SIMULATE_EXAMPLES: &str = "\
Examples:
  selvedge simulate program.bp
  selvedge simulate --seed 7 --steps 200 --threads 3 program.bp
      The same seed gives the same run.

Exit code 10: the run ended in an error. Exit code 5: it did not, which says nothing about other
runs.";

pub(super) const DEBUG_EXAMPLES: &str = "\
Examples:
  selvedge debug --threads 3 queue.bp
      Search for an error and step through the execution to it; press ? for the keys.
  selvedge debug --threads 3 --trace trace.json queue.bp
      Step through a saved execution; repeat the options of the check that found it.

Exit code 10: there is an execution to an error. Otherwise, the exit code of the verdict.";

pub(super) const SHOW_EXAMPLES: &str = "\
Examples:
  selvedge show ast program.bp                           The syntax tree.
  selvedge show ir program.bp                            The intermediate representation.
  selvedge show cfg program.bp | dot -Tpdf > cfg.pdf     The control-flow graph for Graphviz.
  selvedge show cfg --picture svg program.bp > cfg.svg   The same as SVG, without Graphviz.
  selvedge show stats program.bp                         Statistics.
  selvedge show types program.c                          Objects and functions with their types.
  selvedge show cfg system.pds | dot -Tpdf > pds.pdf     The states and rules of a pushdown system.
  selvedge show abstract-model --picture svg mutex.gcl   Abstract states of a program with integers.";

pub(super) const CONVERT_EXAMPLES: &str = "\
Examples:
  selvedge convert program.bp --to horn > program.smt2
  z3 program.smt2
      Constrained Horn clauses, for programs with one thread: `sat` means safe, `unsat` means
      unsafe.
  selvedge convert program.bp --to pds -o program.pds
  selvedge check program.pds
      Check the same question on a pushdown system (docs/pds.md).
  selvedge convert program.bp --to tts -o program.tts
  selvedge check program.tts
      Check the same question on a thread-transition system, with the target in program.prop
      (docs/tts.md).
  selvedge convert net.spec --to bp
      Convert a Petri net to a Boolean program.
  selvedge convert program.bp --threads 3 --to promela > model.pml
  spin -a model.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -E
      A Promela model for SPIN: `errors: 0` means safe, provided that the search was complete.";

pub(super) const ABSTRACT_EXAMPLES: &str = "\
Examples:
  selvedge abstract mutex.gcl -o mutex.bp
  selvedge check mutex.bp
      If mutex.bp is safe, so is mutex.gcl; an error may be due to the abstraction alone.
  selvedge abstract --predicates more.txt bakery.gcl";

pub(super) const SEQUENTIALIZE_EXAMPLES: &str = "\
Examples:
  selvedge sequentialize --contexts 2 server.bp -o server.seq.bp
  selvedge check server.seq.bp
      server.seq.bp is unsafe exactly if server.bp has an error within 2 contexts per thread
      (docs/contexts.md).
  selvedge sequentialize --contexts 3 --threads 2 spawner.bp
      Reserve 2 slots for threads that are started at run time; a thread that ends frees its slot.";

pub(super) const SOLVE_EXAMPLES: &str = "\
Examples:
  selvedge solve calculus/entry-forward.fp program.bp
  selvedge solve --verbose calculus/rounds.fp drivers.bp
      docs/calculus.md explains how to write your own equations.
  selvedge solve --rounds 3 drivers.bp
  selvedge solve --contexts 2 --print > contexts-2.fp
      Generate the equations for a given number of rounds or contexts.

Exit code 10: the relation `Error()` holds. Exit code 0: it does not; what this means depends on the
equations.";

pub(super) const CROSSCHECK_EXAMPLES: &str = "\
Examples:
  selvedge crosscheck program.bp
  selvedge crosscheck --time-limit 1m *.bp
      Give each applicable engine and each installed tool one minute per file.

External tools: `z3` (its engine Spacer) for programs with one thread, and `spin` for programs
without recursion and with --threads. They are searched for in PATH, and in `.tools/z3/bin` and
`.tools/spin/bin` of this folder or one above. Exit code 6: two of them disagree. Otherwise, the
exit code of the verdict.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  selvedge completions bash > ~/.local/share/bash-completion/completions/selvedge
  selvedge completions zsh > ~/.zfunc/_selvedge
  selvedge completions fish > ~/.config/fish/completions/selvedge.fish";

pub(super) const TEST_EXAMPLES: &str = "\
Examples:
  selvedge test examples
      Check all programs in the folder against their lines `// verdict: ..`.
  selvedge test --junit results.xml --time-limit 1m programs
      The same in continuous integration.

Exit codes: 0 if all programs have their verdicts, 10 if one has another, 11, 12 or 5 if one is
not decided, 2 if one cannot be read.";

pub(super) const BATCH_EXAMPLES: &str = "\
Examples:
  selvedge batch plan programs --split engine --engines threads,views --time-limit 1m --out tasks.jsonl
  selvedge batch run tasks.jsonl --results results --index 0
      Run one task; a Slurm array, an indexed Kubernetes job or GNU parallel provides the index.
  selvedge batch merge tasks.jsonl --results results
      Judge all traces and certificates again, and combine the answers.
docs/batch.md has the scripts.";
