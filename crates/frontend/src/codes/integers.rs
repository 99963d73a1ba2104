//! Findings in programs of guarded commands.

use super::Explanation;

pub(super) const NON_LINEAR: Explanation = Explanation {
    title: "a term that is not linear",
    text: "Terms are sums of constants and of variables with constant factors, so one factor of a product must be a \
             constant. There is no division. You can compare a remainder with a constant, and test divisibility by a \
             constant with `n divides e`.",
    wrong: "var x, y: int;\n\
             grow: x > 0 -> y := x * y;\n\
             safe y >= 0;\n",
    right: "var x, y: int;\n\
             grow: x > 0 -> y := 2 * y;\n\
             safe y >= 0;\n",
};

pub(super) const WRONG_TYPE: Explanation = Explanation {
    title: "an integer in place of a truth value, or the other way round",
    text: "Conditions are truth values: comparisons, variables of the type `bool`, and combinations of these with \
             `!`, `&`, `|` and `=>`. Terms are integers. There is no conversion between the two.",
    wrong: "var x: int;\n\
             down: x -> x := x - 1;\n\
             safe x >= 0;\n",
    right: "var x: int;\n\
             down: x > 0 -> x := x - 1;\n\
             safe x >= 0;\n",
};

pub(super) const OUTSIDE_RANGE: Explanation = Explanation {
    title: "a value that may leave the range of the variable",
    text: "A variable with a range like `0..3` is for control, and its values must clearly stay within the range: \
             you can assign constants of the range, variables with a subrange, and conditional values of these. Use \
             the type `int` for computations.",
    wrong: "var s: 0..3 = 0;\n\
             next: s < 3 -> s := s + 1;\n\
             safe s <= 3;\n",
    right: "var s: 0..3 = 0;\n\
             next: s < 3 -> s := s == 0 ? 1 : s == 1 ? 2 : 3;\n\
             safe s <= 3;\n",
};

pub(super) const MISPLACED_NONDET: Explanation = Explanation {
    title: "`nondet` outside of an assignment",
    text: "`nondet` is an arbitrary value that a step chooses, so it is allowed only on the right-hand side of an \
             assignment. Conditions do not choose values. A variable that is not restricted by `init` starts with an \
             arbitrary value anyway.",
    wrong: "var x: int;\n\
             init x == nondet;\n\
             t: true -> x := x + 1;\n\
             safe x >= 0;\n",
    right: "var x: int;\n\
             t: true -> x := x + nondet;\n\
             safe x >= 0;\n",
};

pub(super) const MISPLACED_GOTO: Explanation = Explanation {
    title: "a location outside of a process",
    text: "Locations belong to processes. `at`, `start` and `goto` are allowed only inside a process, and `goto` \
             leads to a location of the same process. Elsewhere, you can test the location of a process with `p at \
             l`.",
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
