//! Findings in programs of guarded commands.

use super::Explanation;

pub(super) const NON_LINEAR: Explanation = Explanation {
    title: "a non-linear term",
    text: "Terms are sums of constants and of variables with constant factors. In a product, one factor \
             must be a constant. There is no division; remainders can be compared with a constant, and \
             divisibility by a constant is a condition: `n divides e`.",
    wrong: "var x, y: int;\n\
             grow: x > 0 -> y := x * y;\n\
             safe y >= 0;\n",
    right: "var x, y: int;\n\
             grow: x > 0 -> y := 2 * y;\n\
             safe y >= 0;\n",
};

pub(super) const WRONG_TYPE: Explanation = Explanation {
    title: "a type error: integer or truth value",
    text: "Conditions are truth values: comparisons, variables of type `bool`, and combinations of these by \
             `!`, `&`, `|` and `=>`. Terms are integers. There is no conversion between the two.",
    wrong: "var x: int;\n\
             down: x -> x := x - 1;\n\
             safe x >= 0;\n",
    right: "var x: int;\n\
             down: x > 0 -> x := x - 1;\n\
             safe x >= 0;\n",
};

pub(super) const OUTSIDE_RANGE: Explanation = Explanation {
    title: "a value that may be outside the range of the variable",
    text: "A variable of a range like `0..3` is meant for control, and it must be obvious that it stays in \
             its range: only constants of the range, variables whose range is contained in it, and \
             conditional expressions over these can be assigned. Use the type `int` for variables in \
             computations.",
    wrong: "var s: 0..3 = 0;\n\
             next: s < 3 -> s := s + 1;\n\
             safe s <= 3;\n",
    right: "var s: 0..3 = 0;\n\
             next: s < 3 -> s := s == 0 ? 1 : s == 1 ? 2 : 3;\n\
             safe s <= 3;\n",
};

pub(super) const MISPLACED_NONDET: Explanation = Explanation {
    title: "`nondet` outside an assignment",
    text: "`nondet` is an arbitrary input value that a step chooses, so it can only be used on the \
             right-hand side of an assignment. Conditions describe states and choose nothing. A variable that \
             does not occur in `init` starts with an arbitrary value.",
    wrong: "var x: int;\n\
             init x == nondet;\n\
             t: true -> x := x + 1;\n\
             safe x >= 0;\n",
    right: "var x: int;\n\
             t: true -> x := x + nondet;\n\
             safe x >= 0;\n",
};

pub(super) const MISPLACED_GOTO: Explanation = Explanation {
    title: "a location outside a process",
    text: "Locations belong to processes. `at`, `start` and `goto` must be placed between the braces of a \
             process, and `goto` leads to a location of the same process. Elsewhere, `p at l` tests the \
             location of a process.",
    wrong: "process p {\n\
             \x20 at a: goto b;\n\
             \x20 at b: goto a;\n\
             }\n\
             reset: p at b -> goto a;\n",
    right: "process p {\n\
             \x20 at a: goto b;\n\
             \x20 at b: goto a;\n\
             \x20 at b: reset: goto a;\n\
             }\n",
};
