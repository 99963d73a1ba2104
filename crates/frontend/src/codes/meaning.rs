//! Findings about what a program means, and warnings.

use super::Explanation;

pub(super) const MISPLACED_PRIME: Explanation = Explanation {
    title: "a new value where there is none",
    text: "`'x`, also written `x'`, is the value of `x` after the step. It is known only in the condition \
             behind `constrain`, where a plain name is the value before the step.",
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
    title: "a passive copy where it has no meaning",
    text: "`x$` stands for the variable `x` of each other thread. It can be read in `constrain` and in \
             `assume`, which must hold for every other thread. It can be assigned, and then its new value may \
             depend on its old one. In the value of an ordinary variable, in a condition of `if`, in an \
             assertion or in an argument it has no meaning: there is not one other thread.",
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
    text: "`x$` stands for the copies of `x` that other threads have. A shared variable has only one copy, \
             so the name `x$` has no meaning, unless a variable is declared with that very name.",
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
    text: "The statement belongs to a dialect of the language, but its meaning is not agreed on. `sync` is \
             one of these: use shared variables, `assume` and `atomic_begin` to let threads meet.",
    wrong: "void main() begin\n\
             \x20 sync;\n\
             end\n",
    right: "decl ready;\n\
             void main() begin\n\
             \x20 assume(ready);\n\
             end\n",
};

pub(super) const NO_ENTRY: Explanation = Explanation {
    title: "nothing to start with",
    text: "A program starts with its procedure `main`; without one, with `thread0`, `thread1` and so on, \
             one thread each; or with its processes. Another procedure can be chosen with `--entry`.",
    wrong: "void start() begin\n\
             \x20 skip;\n\
             end\n",
    right: "void main() begin\n\
             \x20 skip;\n\
             end\n",
};

pub(super) const MAIN_BESIDE_PROCESSES: Explanation = Explanation {
    title: "`main` outside the processes",
    text: "In a program with processes every thread is a copy of one of them and starts with the `main` \
             inside it. A `main` outside would never run.",
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
    title: "results of a call that runs elsewhere",
    text: "A label `ASYNC_..` before a call starts a thread that runs it, and the caller goes on at once. \
             So there is nothing that could be assigned. Let the thread write to a shared variable.",
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
    title: "an initial value that reads what has none yet",
    text: "Initial values are computed in the order of the declarations, first those of shared variables, \
             then, when a thread comes to life, those of its own. An initial value can read what stands \
             before it, not itself and not what comes later.",
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
    title: "an initial value behind a statement",
    text: "Locals get their initial values when the procedure is entered, wherever they are declared. \
             Behind a statement that would be misleading, so declare the variable there without a value and \
             assign it in a statement.",
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
    title: "a variable of a thread in `init`",
    text: "`init` runs once, before the threads come to life, so it cannot use variables of which every \
             thread has its own copy. Give them an initial value where they are declared; it may read shared \
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
    title: "a variable that is never used",
    text: "Nothing reads or assigns the variable. Parameters are not reported, nor are names that begin \
             with `_`, nor names like `b7` or `b7_x_lt_y`, which SatAbs gives to its predicates and declares \
             in every procedure.",
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
    title: "a label that nothing jumps to",
    text: "No `goto` and no `start_thread` of the procedure mentions the label. Labels that programs write \
             are not reported: numbers; `PC`, `l` or `L` with a number; those that begin with `ASYNC_`, \
             `c2bp`, `C_`, `S_` or `_`. Nor are labels with `ERROR` in their name, nor one that is asked for \
             with `--label`.",
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
    text: "The statement follows a `goto`, a `return` or an `end_thread`, or an `if` all of whose branches \
             end with one, and has no label that could be jumped to. Conditions are not looked at. Only the \
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
    title: "a `return` without the values that are due",
    text: "The head of the procedure announces values, and this `return` gives none. Arbitrary values are \
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
    title: "an end without the values that are due",
    text: "The head of the procedure announces values, and control can come to its `end` without a \
             `return`. Arbitrary values are returned.",
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
    title: "`=` beside `&`, `|` or `^` without parentheses",
    text: "`=` and `!=` bind looser than `&`, `|` and `^`: `a & b = c` means `(a & b) = c`, as in Boppo and \
             SatAbs. Other dialects bind them tighter. Parentheses make the meaning plain for everybody.",
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
