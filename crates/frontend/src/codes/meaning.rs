//! Findings about what a program means, and warnings.

use super::Explanation;

pub(super) const MISPLACED_PRIME: Explanation = Explanation {
    title: "a new value outside `constrain`",
    text: "`'x`, also written `x'`, is the value of `x` after the step. It can only be used in the \
             condition after `constrain`, where a plain name is the value before the step.",
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
    title: "a misplaced passive copy",
    text: "`x$` refers to the variable `x` of each other thread. It can be read in `constrain` and in \
             `assume`, which must hold for every other thread. It can be assigned, and then its new value may \
             depend on its old one. It cannot be used in the value of an ordinary variable, in a condition of \
             `if`, in an assertion or in an argument, because there it would have to refer to a single \
             thread.",
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
    text: "`x$` refers to the copies of `x` in other threads. A shared variable has only one copy, so `x$` \
             has no meaning, unless a variable is declared with exactly this name.",
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
    text: "The statement belongs to a dialect of the language, but its meaning is not standardised. One \
             example is `sync`: use shared variables, `assume` and `atomic_begin` to synchronise threads.",
    wrong: "void main() begin\n\
             \x20 sync;\n\
             end\n",
    right: "decl ready;\n\
             void main() begin\n\
             \x20 assume(ready);\n\
             end\n",
};

pub(super) const NO_ENTRY: Explanation = Explanation {
    title: "no initial procedure",
    text: "A program starts with its procedure `main`; without one, with `thread0`, `thread1` and so on, \
             one thread each; or with its processes. Use `--entry` to choose another procedure.",
    wrong: "void start() begin\n\
             \x20 skip;\n\
             end\n",
    right: "void main() begin\n\
             \x20 skip;\n\
             end\n",
};

pub(super) const MAIN_BESIDE_PROCESSES: Explanation = Explanation {
    title: "`main` outside the processes",
    text: "In a program with processes, every thread belongs to a process and starts with the `main` inside \
             it. A `main` outside would never run.",
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
    title: "results of an asynchronous call",
    text: "A label `ASYNC_..` before a call starts a thread that runs the procedure, and the caller \
             continues immediately. So there are no results to assign. Let the thread write to a shared \
             variable.",
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
    title: "an initial value that reads a later variable",
    text: "Initial values are computed in the order of the declarations: first those of shared variables, \
             and then, when a thread is created, those of its own variables. An initial value can only read \
             variables that are declared before it.",
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
    text: "Locals get their initial values when the procedure is entered, wherever they are declared. After \
             a statement that would be misleading, so declare the variable without a value and assign it in a \
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
    title: "a per-thread variable in `init`",
    text: "`init` runs once, before the threads are created, so it cannot use variables of which every \
             thread has its own copy. Give them an initial value in their declaration; it may read shared \
             variables.",
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
    title: "an unused variable",
    text: "Nothing reads or assigns the variable. Parameters are not reported, and neither are names that \
             begin with `_`, nor names like `b7` or `b7_x_lt_y`, which SatAbs gives to its predicates and \
             declares in every procedure.",
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
    title: "an unused label",
    text: "No `goto` and no `start_thread` in the procedure refers to the label. Labels of generated \
             programs are not reported: numbers; `PC`, `l` or `L` with a number; and those that begin with \
             `ASYNC_`, `c2bp`, `C_`, `S_` or `_`. Neither are labels with `ERROR` in their name, and the \
             label given with `--label`.",
    wrong: "void main() begin\n\
             \x20 again: skip;\n\
             end\n",
    right: "void main() begin\n\
             \x20 again: skip;\n\
             \x20 goto again;\n\
             end\n",
};

pub(super) const UNREACHABLE: Explanation = Explanation {
    title: "an unreachable statement",
    text: "The statement follows a `goto`, a `return` or an `end_thread`, or an `if` all of whose branches \
             end with one of these, and it has no label to jump to. Conditions are not evaluated. Only the \
             first of several such statements is reported.",
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
    title: "a `return` without values",
    text: "The head of the procedure declares results, but this `return` has none. Arbitrary values are \
             returned.",
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
    title: "a missing `return`",
    text: "The head of the procedure declares results, but control can reach its `end` without a `return`. \
             Arbitrary values are returned.",
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
    text: "`=` and `!=` bind more loosely than `&`, `|` and `^`: `a & b = c` means `(a & b) = c`, as in \
             Boppo and SatAbs. In other dialects they bind more tightly. Use parentheses to make the meaning \
             clear.",
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
