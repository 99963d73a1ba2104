//! What the help of each command says at its end: examples, and what its exit codes mean.

pub(super) const EXIT_CODES: &str = "\
Exit codes:
    0  safe (or done)             11  time limit reached
   10  unsafe                     12  memory or node limit reached
    5  unknown                     1  wrong usage
  130  interrupted                 2  input not readable or with errors
                                   6  internal error
  Several inputs end in the first that occurs in 6, 130, 1, 2, 10, 12, 11, 5, 0.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  selvedge check driver.bp
      Can an assertion fail, or the label ERROR or SLIC_ERROR be reached?
  selvedge check --threads 3 queue.bp
      The same with at most 3 threads at a time; a spawn beyond that does nothing.
  selvedge check --label BAD --trace-out trace.json lock.bp
      Can the label BAD be reached? The trace can be replayed with `selvedge replay`.
  selvedge check --html report.html queue.bp
      The answer as a page for a browser: the execution step by step, or the proof.
  selvedge check --contexts 1..4 server.bp
      Recursive threads: executions in which each thread has at most 4 turns, smallest number first.
  selvedge check --rounds 1..3 drivers.bp
      Any number of recursive threads: executions in which all of them have at most 3 turns, in any order (docs/rounds.md).
  selvedge check --time-limit 5m --memory-limit 4GB *.bp
      Many files, with a summary at the end. The limits hold for each file.
  generate | selvedge check --format json -
      A program from standard input, the answer for another program.

The last line on standard output is VERIFICATION SUCCESSFUL, VERIFICATION FAILED or VERIFICATION UNKNOWN (reason), also
if the input has errors; only wrong usage of the command line ends without it.";

pub(super) const BOOM_EXAMPLES: &str = "\
Examples:
  selvedge boom --stats -t --threadbound 5 program.bp
  ln -s selvedge boom && ./boom -t program.bp
      The same under the name by which SatAbs calls it (docs/boom.md).

Standard output has a line VERIFICATION SUCCESSFUL or VERIFICATION FAILED, or neither of them if the answer is unknown.";

pub(super) const FMT_EXAMPLES: &str = "\
Examples:
  selvedge fmt program.bp        Rewrite the file.
  selvedge fmt - < program.bp    Read standard input, write standard output.
  selvedge fmt --check *.bp      Write nothing; list the files that would change and end with exit code 2 if there are
                                 any. For continuous integration.";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  selvedge explain SV0012
  selvedge explain            List all codes.";

pub(super) const REPLAY_EXAMPLES: &str = "\
Examples:
  selvedge check --trace-out trace.json program.bp
  selvedge replay trace.json program.bp

The trace names the options under which it was found, so none have to be given. Exit code 10: the trace is an execution
of the program and ends in an error. Exit code 2: the file is no trace, does not belong to the program, or cannot be
executed on it; the message names the step.";

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  selvedge check --certificate proof.json program.bp
  selvedge verify proof.json program.bp
  selvedge check --certificate proof.json system.pds
  selvedge verify proof.json system.pds

The certificate names the options under which it was made, so none have to be given. Exit code 0: it proves that no error
can be reached. Exit code 2: the file is no certificate, does not belong to the program, or proves nothing about it; the
message names the flaw. The checker shares no code with the engines, and uses another solver.";

pub(super) const SIMULATE_EXAMPLES: &str = "\
Examples:
  selvedge simulate program.bp
  selvedge simulate --seed 7 --steps 200 --threads 3 program.bp
      The same seed gives the same run.

Exit code 10: the run met an error. Exit code 5: it did not, which says nothing about other runs.";

pub(super) const DEBUG_EXAMPLES: &str = "\
Examples:
  selvedge debug --threads 3 queue.bp
      Look for an error and walk through the execution to it; ? lists the keys.
  selvedge debug --trace trace.json queue.bp
      The execution that was saved.

Exit code 10: there is an execution to an error. Otherwise that of the verdict.";

pub(super) const SHOW_EXAMPLES: &str = "\
Examples:
  selvedge show ast program.bp                           The syntax tree.
  selvedge show ir program.bp                            The control-flow representation.
  selvedge show cfg program.bp | dot -Tpdf > cfg.pdf     The control-flow graph for Graphviz.
  selvedge show cfg --picture svg program.bp > cfg.svg   A picture; nothing else has to be installed.
  selvedge show stats program.bp                         Numbers.
  selvedge show cfg system.pds | dot -Tpdf > pds.pdf     A pushdown system: its states and rules.
  selvedge show abstract-model --picture svg mutex.gcl   Abstract states of a program with integers.";

pub(super) const CONVERT_EXAMPLES: &str = "\
Examples:
  selvedge convert program.bp --to horn > program.smt2
  z3 program.smt2
      Constrained Horn clauses for programs with one thread: `sat` means safe, `unsat` unsafe.
  selvedge convert program.bp --to pds -o program.pds
  selvedge check program.pds
      The same question about the pushdown system (docs/pds.md).
  selvedge convert program.bp --to tts -o program.tts
  selvedge check program.tts
      The same question about the thread-transition system; the target is written to program.prop (docs/tts.md).
  selvedge convert net.spec --to bp
      A Petri net as a Boolean program.
  selvedge convert program.bp --threads 3 --to promela > model.pml
  spin -a model.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -E
      A model for SPIN: `errors: 0` means safe, if the search was completed.";

pub(super) const ABSTRACT_EXAMPLES: &str = "\
Examples:
  selvedge abstract mutex.gcl -o mutex.bp
  selvedge check mutex.bp
      Safe only if mutex.gcl is; an error may be one of the abstraction alone.
  selvedge abstract --predicates more.txt bakery.gcl";

pub(super) const SEQUENTIALIZE_EXAMPLES: &str = "\
Examples:
  selvedge sequentialize --contexts 2 server.bp -o server.seq.bp
  selvedge check server.seq.bp
      Unsafe exactly if some execution of server.bp with at most 2 contexts per thread ends in an error (docs/contexts.md).
  selvedge sequentialize --contexts 3 --threads 2 spawner.bp
      Threads that are started have a place each, here 2; an ended thread frees its place.";

pub(super) const SOLVE_EXAMPLES: &str = "\
Examples:
  selvedge solve calculus/entry-forward.fp program.bp
  selvedge solve --verbose calculus/rounds.fp drivers.bp
      Equations of one's own are welcome: docs/calculus.md.
  selvedge solve --rounds 3 drivers.bp
  selvedge solve --contexts 2 --print > contexts-2.fp
      The equations for any number of rounds or contexts are written by the tool.

Exit code 10: the relation `Error()` holds. Exit code 0: it does not, which means what the equations mean.";

pub(super) const CROSSCHECK_EXAMPLES: &str = "\
Examples:
  selvedge crosscheck program.bp
  selvedge crosscheck --time-limit 1m *.bp
      Each engine that takes the program, and each other tool that is found, has this much time for each file.

Other tools: `z3` (its engine Spacer), for programs with one thread, in PATH or in `.tools/z3/bin` of this folder or one
above it; `spin`, for programs without recursion and with --threads, in PATH or in `.tools/spin/bin`.
Exit code 6: two of them disagree. Otherwise that of the verdict.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  selvedge completions bash > ~/.local/share/bash-completion/completions/selvedge
  selvedge completions zsh > ~/.zfunc/_selvedge
  selvedge completions fish > ~/.config/fish/completions/selvedge.fish";
