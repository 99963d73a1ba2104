//! Findings about names and numbers of things.

use super::Explanation;

pub(super) const UNKNOWN_VARIABLE: Explanation = Explanation {
    title: "a variable that is not declared",
    text: "Variables are declared with `decl`, either outside the procedures, for all of them, or inside a \
             procedure. Parameters are variables too. If there is a similar name, the message suggests it.",
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
    text: "You can call procedures of the same process, and procedures outside all processes, wherever they are \
             defined in the file. You cannot call procedures of other processes.",
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
    text: "`goto` and `start_thread goto` refer to a label of the same procedure. No procedure of the program has \
             this label.",
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
    text: "A jump cannot leave its procedure, and this label belongs to another one. To run another procedure, call \
             it; to start a thread in it, use `start_thread` with a call.",
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
    title: "a thread without a place to start",
    text: "`start_thread l` takes a label of this procedure, where the new thread starts with a copy of the locals, \
             or the name of a procedure, which the new thread runs. If both exist, the label takes precedence.",
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
    text: "You can declare a name once outside the procedures, once in each process, and once in each procedure, \
             including its parameters. The inner declaration hides the outer one.",
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
    title: "a label on two statements",
    text: "Within a procedure, a label can belong to only one statement. A statement may have several labels, and \
             may repeat a label. Labels of different procedures are independent.",
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
    title: "a procedure or process that is defined twice",
    text: "The procedures outside processes must have different names, and so must the procedures of a process, and \
             the processes themselves. There can be at most one `init` block.",
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
    title: "a different number of values and variables",
    text: "A parallel assignment has as many values on the right as variables on the left. Use `_` to discard a \
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
    text: "A call, or a `start_thread` with a call, has one value for each parameter. `schoose` takes exactly two.",
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
    text: "The left-hand side of a call has one variable for each return value of the procedure; `_` discards a \
             value. A call without a left-hand side discards all of them.",
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
    title: "the wrong number of return values",
    text: "`return` gives as many values as the procedure declares: none for `void`, one for `bool`, n for \
             `bool<n>`. The only exception is the procedure in which a thread starts, whose return values are \
             discarded: `void main` may return values.",
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
    title: "a variable that is assigned twice in one step",
    text: "All variables on the left of an assignment change in one step, so none of them can occur twice. Only `_` \
             can.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x, x := 0, 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x, _ := 0, 1;\n\
             end\n",
};
