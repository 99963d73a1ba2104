//! Findings about names and numbers of things.

use super::Explanation;

pub(super) const UNKNOWN_VARIABLE: Explanation = Explanation {
    title: "an undeclared variable",
    text: "Variables are declared with `decl`: outside procedures for all of them, or inside a procedure \
             for that procedure only. Parameters are variables too. If a declared name is similar, the \
             message suggests it.",
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
    title: "an undefined procedure",
    text: "A call refers to a procedure of the same process, or to one outside all processes. The order of \
             definitions does not matter. Procedures of other processes cannot be called.",
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
    title: "an undefined label",
    text: "`goto` and `start_thread goto` refer to a label in the same procedure. No procedure of the \
             program has this label.",
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
    text: "Jumps cannot leave their procedure, and this label is in another one. To run code in another \
             procedure, call it; to start a thread there, use `start_thread` with a call.",
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
    title: "an undefined start of a thread",
    text: "`start_thread l` takes either a label of this procedure, at which the new thread begins with a \
             copy of the locals, or the name of a procedure, which the new thread runs. If both exist, the \
             label is used.",
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
    text: "A name can be declared once outside procedures, once in each process, and once in each \
             procedure, including its parameters. An inner declaration hides an outer one.",
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
    title: "a label of two statements",
    text: "A label refers to one statement of its procedure. A statement may have several labels, and the \
             same label may be repeated before the same statement. Labels of different procedures are \
             independent.",
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
    text: "Procedures outside processes must have different names, and so must the procedures of one \
             process, and the processes themselves. There is at most one `init` block.",
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
    title: "the wrong number of values",
    text: "A parallel assignment needs as many values on the right as variables on the left. `_` discards a \
             value.",
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
    text: "A call, or a `start_thread` with a call, needs one value for each parameter. `schoose` takes \
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
    text: "The left-hand side of a call needs one variable for each value that the procedure returns; `_` \
             discards a value. A call without a left-hand side discards all of them.",
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
    text: "`return` needs as many values as the head of the procedure declares: none for `void`, one for \
             `bool`, and n for `bool<n>`. The procedure with which a thread starts may return any number of \
             values, since they are discarded.",
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
    title: "a variable that is assigned twice",
    text: "All variables on the left-hand side of an assignment change in one step, so no variable can \
             occur there twice. `_` may be repeated.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x, x := 0, 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x, _ := 0, 1;\n\
             end\n",
};
