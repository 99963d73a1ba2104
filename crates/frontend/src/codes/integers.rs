//! Findings in programs of guarded commands.

use super::Explanation;

pub(super) const NON_LINEAR: Explanation = Explanation {
    title: "a term that is not linear",
    text: "Terms are sums of variables, each with a constant factor, and constants. A product needs a constant \
             factor. There is no division; remainders can be compared with a constant, and divisibility by a \
             constant is a condition: `n divides e`.",
    wrong: "var x, y: int;\n\
             grow: x > 0 -> y := x * y;\n\
             safe y >= 0;\n",
    right: "var x, y: int;\n\
             grow: x > 0 -> y := 2 * y;\n\
             safe y >= 0;\n",
};

pub(super) const WRONG_TYPE: Explanation = Explanation {
    title: "an integer in place of a truth value, or the other way round",
    text: "Conditions are truth values: comparisons, variables of the type `bool`, and what `!`, `&`, `|` and `=>` \
             make of them. Terms are integers. Neither is ever taken for the other.",
    wrong: "var x: int;\n\
             down: x -> x := x - 1;\n\
             safe x >= 0;\n",
    right: "var x: int;\n\
             down: x > 0 -> x := x - 1;\n\
             safe x >= 0;\n",
};

pub(super) const OUTSIDE_RANGE: Explanation = Explanation {
    title: "a value that may leave the range of the variable",
    text: "A variable of a range like `0..3` is for control, and it must be plain to see that it stays within: \
             constants of the range, variables of a range that is part of it, and conditional values of these \
             can be assigned. A variable that is computed with has the type `int`.",
    wrong: "var s: 0..3 = 0;\n\
             next: s < 3 -> s := s + 1;\n\
             safe s <= 3;\n",
    right: "var s: 0..3 = 0;\n\
             next: s < 3 -> s := s == 0 ? 1 : s == 1 ? 2 : 3;\n\
             safe s <= 3;\n",
};

pub(super) const MISPLACED_NONDET: Explanation = Explanation {
    title: "`nondet` outside of an assignment",
    text: "An arbitrary value is chosen by a step, so `nondet` stands on the right-hand side of an assignment. \
             Conditions speak of states and choose nothing. A variable that no `init` speaks of starts with any \
             value without saying so.",
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
    text: "Locations belong to processes. `at`, `start` and `goto` stand between the braces of a process, and \
             `goto` leads to a location of the same process. Elsewhere one can ask for the location of a \
             process: `p at l`.",
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
