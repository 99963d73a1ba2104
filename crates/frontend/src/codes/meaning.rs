//! Findings about what a program means, and warnings.

use super::Explanation;

pub(super) const MISPLACED_PRIME: Explanation = Explanation {
    title: "a primed variable outside of `constrain`",
    text: "`'x`, also written `x'`, is the value of `x` after the step. It is available only in the condition after \
             `constrain`, where a plain name is the value before the step.",
    wrong: "decl x, y;\n\
             void main() begin\n\
             \x20 x := 'y;\n\
             end\n",
    right: "decl x, y;\n\
             void main() begin\n\
             \x20 x := * constrain 'x = y;\n\
             end\n",
};

pub(super) const MISPLACED_PASSIVE: Explanation = Explanation {
    title: "a passive copy where it is not allowed",
    text: "`x$` is the variable `x` of each other thread. You can read it in `constrain` and `assume`, which must \
             then hold for every other thread. You can also assign it, and its new value may depend on its old one. \
             It has no meaning in the value of an ordinary variable, in the condition of an `if`, in an assertion or \
             in an argument, because there may be several other threads.",
    wrong: "void main() begin\n\
             \x20 decl x;\n\
             \x20 x := x$;\n\
             end\n",
    right: "void main() begin\n\
             \x20 decl x;\n\
             \x20 x$ := x;\n\
             end\n",
};

pub(super) const PASSIVE_SHARED: Explanation = Explanation {
    title: "a passive copy of a shared variable",
    text: "`x$` is the copy of `x` in each other thread. A shared variable has only one copy, so `x$` has no \
             meaning, unless a variable with the name `x$` is declared.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x$ := 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := 1;\n\
             end\n",
};

pub(super) const UNSUPPORTED: Explanation = Explanation {
    title: "a statement that is not supported",
    text: "The statement belongs to a dialect of the language, but there is no agreement on its meaning. `sync` is \
             such a statement: use shared variables, `assume` and `atomic_begin` to synchronise threads.",
    wrong: "void main() begin\n\
             \x20 sync;\n\
             end\n",
    right: "decl ready;\n\
             void main() begin\n\
             \x20 assume(ready);\n\
             end\n",
};

pub(super) const NO_ENTRY: Explanation = Explanation {
    title: "a program without an entry procedure",
    text: "A program starts with its procedure `main`, or with its processes, or with `thread0`, `thread1` and so \
             on, one thread each. You can choose another procedure with `--entry`.",
    wrong: "void start() begin\n\
             \x20 skip;\n\
             end\n",
    right: "void main() begin\n\
             \x20 skip;\n\
             end\n",
};

pub(super) const MAIN_BESIDE_PROCESSES: Explanation = Explanation {
    title: "`main` outside the processes",
    text: "In a program with processes, every thread belongs to a process and starts with the `main` inside it. A \
             `main` outside the processes would never run.",
    wrong: "process P begin\n\
             \x20 void main() begin\n\
             \x20   skip;\n\
             \x20 end\n\
             end\n\
             void main() begin\n\
             \x20 skip;\n\
             end\n",
    right: "process P begin\n\
             \x20 void main() begin\n\
             \x20   skip;\n\
             \x20 end\n\
             end\n",
};

pub(super) const PROCESS_WITHOUT_MAIN: Explanation = Explanation {
    title: "a process without `main`",
    text: "The threads of a process start with the procedure `main` inside the process.",
    wrong: "process P begin\n\
             \x20 void run() begin\n\
             \x20   skip;\n\
             \x20 end\n\
             end\n",
    right: "process P begin\n\
             \x20 void main() begin\n\
             \x20   skip;\n\
             \x20 end\n\
             end\n",
};

pub(super) const ASYNC_RESULTS: Explanation = Explanation {
    title: "results of a call that runs in another thread",
    text: "A call with a label `ASYNC_..` starts a thread, and the caller continues immediately. So there is no \
             result to assign. Let the thread write to a shared variable instead.",
    wrong: "decl x;\n\
             bool f() begin\n\
             \x20 return 1;\n\
             end\n\
             void main() begin\n\
             \x20 ASYNC_1: x := f();\n\
             end\n",
    right: "decl x;\n\
             void f() begin\n\
             \x20 x := 1;\n\
             end\n\
             void main() begin\n\
             \x20 ASYNC_1: f();\n\
             end\n",
};

pub(super) const EARLY_READ: Explanation = Explanation {
    title: "an initial value that reads a variable without a value",
    text: "Initial values are computed in the order of the declarations: first those of the shared variables, and \
             then, when a thread starts, those of its own variables. An initial value can refer to earlier \
             declarations, but not to itself or to later ones.",
    wrong: "decl x := y;\n\
             decl y := 1;\n\
             void main() begin\n\
             \x20 assert(x = y);\n\
             end\n",
    right: "decl y := 1;\n\
             decl x := y;\n\
             void main() begin\n\
             \x20 assert(x = y);\n\
             end\n",
};

pub(super) const LATE_INITIALISER: Explanation = Explanation {
    title: "an initial value after a statement",
    text: "Locals get their initial values when the procedure is entered, wherever they are declared. After a \
             statement, this would be misleading. So declare the variable without a value there, and assign it in a \
             statement.",
    wrong: "decl g;\n\
             void main() begin\n\
             \x20 g := 1;\n\
             \x20 decl x := g;\n\
             \x20 assert(x);\n\
             end\n",
    right: "decl g;\n\
             void main() begin\n\
             \x20 decl x;\n\
             \x20 g := 1;\n\
             \x20 x := g;\n\
             \x20 assert(x);\n\
             end\n",
};

pub(super) const THREAD_VARIABLE_IN_INIT: Explanation = Explanation {
    title: "a thread-local variable in `init`",
    text: "`init` runs once, before the threads start, so it cannot use variables of which every thread has its own \
             copy. Give them an initial value in their declaration; it may refer to shared variables.",
    wrong: "decl g;\n\
             decl thread_local t;\n\
             void init() begin\n\
             \x20 g, t := 0, 0;\n\
             end\n\
             void thread0() begin\n\
             \x20 assert(!t & !g);\n\
             end\n",
    right: "decl g;\n\
             decl thread_local t := 0;\n\
             void init() begin\n\
             \x20 g := 0;\n\
             end\n\
             void thread0() begin\n\
             \x20 assert(!t & !g);\n\
             end\n",
};

pub(super) const UNUSED_VARIABLE: Explanation = Explanation {
    title: "a variable that is never used",
    text: "The variable is never read or assigned. Parameters are not reported, and neither are names that begin \
             with `_`, nor names like `b7` or `b7_x_lt_y`, which SatAbs gives to its predicates and declares in every \
             procedure.",
    wrong: "decl x, y;\n\
             void main() begin\n\
             \x20 x := 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := 1;\n\
             end\n",
};

pub(super) const UNUSED_LABEL: Explanation = Explanation {
    title: "a label that is never used",
    text: "No `goto` and no `start_thread` of the procedure refers to the label. Labels that tools generate are not \
             reported: numbers; `PC`, `l` or `L` with a number; and labels that begin with `ASYNC_`, `c2bp`, `C_`, \
             `S_` or `_`. Neither are labels with `ERROR` in their name, nor the label given with `--label`.",
    wrong: "void main() begin\n\
             \x20 again: skip;\n\
             end\n",
    right: "void main() begin\n\
             \x20 again: skip;\n\
             \x20 goto again;\n\
             end\n",
};

pub(super) const UNREACHABLE: Explanation = Explanation {
    title: "a statement that is never reached",
    text: "The statement has no label, and follows a `goto`, a `return`, an `end_thread`, or an `if` whose branches \
             all end with one of these. Conditions are not taken into account. Only the first of several such \
             statements is reported.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 return;\n\
             \x20 x := 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := 1;\n\
             \x20 return;\n\
             end\n",
};

pub(super) const RETURN_WITHOUT_VALUES: Explanation = Explanation {
    title: "a `return` without the declared values",
    text: "The procedure declares return values, but this `return` gives none. It returns arbitrary values.",
    wrong: "bool f() begin\n\
             \x20 return;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
    right: "bool f() begin\n\
             \x20 return *;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
};

pub(super) const FALLS_OFF_END: Explanation = Explanation {
    title: "the end of a procedure without the declared values",
    text: "The procedure declares return values, but control can reach its `end` without a `return`. It then \
             returns arbitrary values.",
    wrong: "decl x;\n\
             bool f() begin\n\
             \x20 if x then return 1; fi;\n\
             end\n\
             void main() begin\n\
             \x20 x := f();\n\
             end\n",
    right: "decl x;\n\
             bool f() begin\n\
             \x20 if x then return 1; else return 0; fi;\n\
             end\n\
             void main() begin\n\
             \x20 x := f();\n\
             end\n",
};

pub(super) const MIXED_PRECEDENCE: Explanation = Explanation {
    title: "`=` mixed with `&`, `|` or `^` without parentheses",
    text: "`=` and `!=` bind looser than `&`, `|` and `^`: `a & b = c` means `(a & b) = c`, as in Boppo and SatAbs. \
             In other dialects, they bind tighter. Use parentheses to make the meaning clear.",
    wrong: "decl a, b, c;\n\
             void main() begin\n\
             \x20 a := *; b := *; c := *;\n\
             \x20 assert(a & b = c);\n\
             end\n",
    right: "decl a, b, c;\n\
             void main() begin\n\
             \x20 a := *; b := *; c := *;\n\
             \x20 assert((a & b) = c);\n\
             end\n",
};
