//! Findings about names and numbers of things.

use super::Explanation;

pub(super) const UNKNOWN_VARIABLE: Explanation = Explanation {
    title: "a variable that is not declared",
    text: "Variables are declared with `decl`: outside the procedures for all of them, or inside one for \
             its own use; parameters are variables too. If a declared name is similar, the message offers it.",
    wrong: "decl locked;\n\
             void main() begin\n\
             \x20 lokced := 1;\n\
             \x20 assert(locked);\n\
             end\n",
    right: "decl locked;\n\
             void main() begin\n\
             \x20 locked := 1;\n\
             \x20 assert(locked);\n\
             end\n",
};

pub(super) const UNKNOWN_PROCEDURE: Explanation = Explanation {
    title: "a procedure that is not defined",
    text: "A call names a procedure of the same process or one outside all processes; where in the file it \
             is defined does not matter. Procedures of other processes cannot be called.",
    wrong: "void main() begin\n\
             \x20 worker();\n\
             end\n",
    right: "void main() begin\n\
             \x20 worker();\n\
             end\n\
             void worker() begin\n\
             \x20 skip;\n\
             end\n",
};

pub(super) const UNKNOWN_LABEL: Explanation = Explanation {
    title: "a label that does not exist",
    text: "`goto` and `start_thread goto` name a label of the procedure in which they stand. No procedure \
             of the program has this one.",
    wrong: "void main() begin\n\
             \x20 L: skip;\n\
             \x20 goto M;\n\
             end\n",
    right: "void main() begin\n\
             \x20 M: skip;\n\
             \x20 goto M;\n\
             end\n",
};

pub(super) const FOREIGN_LABEL: Explanation = Explanation {
    title: "a label of another procedure",
    text: "Jumps do not leave their procedure. The label exists, but in another one. To run something in \
             another procedure, call it; to start a thread there, use `start_thread` with a call.",
    wrong: "void main() begin\n\
             \x20 goto done;\n\
             end\n\
             void other() begin\n\
             \x20 done: skip;\n\
             end\n",
    right: "void main() begin\n\
             \x20 goto done;\n\
             \x20 done: skip;\n\
             end\n",
};

pub(super) const UNKNOWN_THREAD_START: Explanation = Explanation {
    title: "a thread that would start nowhere",
    text: "`start_thread l` takes a label of this procedure, where the new thread begins with a copy of the \
             locals, or the name of a procedure, which the new thread runs. If both exist, the label is \
             meant.",
    wrong: "void main() begin\n\
             \x20 start_thread worker;\n\
             end\n",
    right: "void main() begin\n\
             \x20 start_thread worker;\n\
             end\n\
             void worker() begin\n\
             \x20 skip;\n\
             end\n",
};

pub(super) const DUPLICATE_VARIABLE: Explanation = Explanation {
    title: "a variable that is declared twice",
    text: "A name can be declared once outside the procedures, once in each process, and once in each \
             procedure, parameters included. The inner declaration hides the outer one.",
    wrong: "decl x, x;\n\
             void main() begin\n\
             \x20 x := 1;\n\
             end\n",
    right: "decl x, y;\n\
             void main() begin\n\
             \x20 x, y := 1, 1;\n\
             end\n",
};

pub(super) const DUPLICATE_LABEL: Explanation = Explanation {
    title: "a label that stands before two statements",
    text: "A label names one statement of its procedure. A statement may have several labels, and the same \
             label may be repeated before the same statement. Labels of different procedures have nothing to \
             do with each other.",
    wrong: "void main() begin\n\
             \x20 L: skip;\n\
             \x20 L: skip;\n\
             \x20 goto L;\n\
             end\n",
    right: "void main() begin\n\
             \x20 L: L: skip;\n\
             \x20 M: skip;\n\
             \x20 goto L, M;\n\
             end\n",
};

pub(super) const DUPLICATE_PROCEDURE: Explanation = Explanation {
    title: "a procedure or a process that is defined twice",
    text: "Procedures outside processes have different names, and so have the procedures of one process, \
             and the processes themselves. There is at most one `init` block.",
    wrong: "void f() begin\n\
             \x20 skip;\n\
             end\n\
             void f() begin\n\
             \x20 skip;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
    right: "void f() begin\n\
             \x20 skip;\n\
             end\n\
             void g() begin\n\
             \x20 skip;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             \x20 g();\n\
             end\n",
};

pub(super) const WRONG_VALUE_COUNT: Explanation = Explanation {
    title: "as many values as variables are needed",
    text: "A parallel assignment has as many values on the right as variables on the left. `_` takes a \
             value and discards it.",
    wrong: "decl x, y;\n\
             void main() begin\n\
             \x20 x, y := 1;\n\
             end\n",
    right: "decl x, y;\n\
             void main() begin\n\
             \x20 x, y := 1, 1;\n\
             end\n",
};

pub(super) const WRONG_ARGUMENT_COUNT: Explanation = Explanation {
    title: "the wrong number of arguments",
    text: "A call, and a `start_thread` with a call, gives one value for each parameter. `schoose` takes \
             exactly two.",
    wrong: "void f(a) begin\n\
             \x20 assume(a);\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
    right: "void f(a) begin\n\
             \x20 assume(a);\n\
             end\n\
             void main() begin\n\
             \x20 f(1);\n\
             end\n",
};

pub(super) const WRONG_RESULT_COUNT: Explanation = Explanation {
    title: "the wrong number of results",
    text: "The left-hand side of a call has one place for each value that the procedure returns; `_` \
             discards one. A call without a left-hand side discards all of them.",
    wrong: "decl x;\n\
             bool<2> f() begin\n\
             \x20 return 0, 1;\n\
             end\n\
             void main() begin\n\
             \x20 x := f();\n\
             end\n",
    right: "decl x;\n\
             bool<2> f() begin\n\
             \x20 return 0, 1;\n\
             end\n\
             void main() begin\n\
             \x20 x, _ := f();\n\
             end\n",
};

pub(super) const WRONG_RETURN_COUNT: Explanation = Explanation {
    title: "the wrong number of returned values",
    text: "`return` gives as many values as the head of the procedure announces: none for `void`, one for \
             `bool`, n for `bool<n>`. Only where a thread starts do values go nowhere, so `void main` may \
             return some.",
    wrong: "bool f() begin\n\
             \x20 return 0, 1;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
    right: "bool<2> f() begin\n\
             \x20 return 0, 1;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
};

pub(super) const ASSIGNED_TWICE: Explanation = Explanation {
    title: "a variable that is assigned twice at once",
    text: "All variables on the left of an assignment change in one step, so none of them can stand there \
             twice. `_` may.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x, x := 0, 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x, _ := 0, 1;\n\
             end\n",
};
