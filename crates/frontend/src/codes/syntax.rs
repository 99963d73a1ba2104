//! Findings of the lexer and the parser.

use super::Explanation;

pub(super) const STRAY_CHARACTER: Explanation = Explanation {
    title: "a character that is not part of the language",
    text: "Outside comments, a program consists of ASCII words, numbers and symbols. Any other character is \
             reported once and skipped. A word that contains letters outside ASCII, or begins with a digit, is \
             reported and then treated as a name, so that it causes no further errors.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x := 1 @ 0;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := 1 & 0;\n\
             end\n",
};

pub(super) const UNTERMINATED_COMMENT: Explanation = Explanation {
    title: "a comment without an end",
    text: "A comment that begins with `/*` ends at the next `*/`. If there is none, the rest of the file is a \
             comment. These comments do not nest: the first `*/` ends them. Comments that begin with `//` or `#` end \
             at the end of the line.",
    wrong: "void main() begin\n\
             \x20 skip;\n\
             end\n\
             /* that was all\n",
    right: "void main() begin\n\
             \x20 skip;\n\
             end\n\
             /* that was all */\n",
};

pub(super) const UNEXPECTED_TOKEN: Explanation = Explanation {
    title: "something else was expected here",
    text: "The text does not follow the grammar. The message says what is allowed here, and what was found. The \
             parser continues at the next `;`, at the next word that closes a block, or at the beginning of the next \
             statement, so that it can report later errors as well.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x := & 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := x & 1;\n\
             end\n",
};

pub(super) const UNCLOSED: Explanation = Explanation {
    title: "an unclosed block or parenthesis",
    text: "Every `(` needs a `)`, every `if` a `fi`, every `while` an `od`, and every `begin` an `end`. The first \
             mark shows what was opened; the second one shows where the end was missed at the latest. The missing \
             word may belong much further up.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 if x then\n\
             \x20   x := 0;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 if x then\n\
             \x20   x := 0;\n\
             \x20 fi;\n\
             end\n",
};

pub(super) const MISSING_SEMICOLON: Explanation = Explanation {
    title: "a statement without `;`",
    text: "Statements and declarations end with `;`. You may omit it before `end`, `fi`, `od`, `else` and `elsif`, \
             and after `fi` and `od`. Here, another statement follows immediately.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x := 0\n\
             \x20 x := 1;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := 0;\n\
             \x20 x := 1;\n\
             end\n",
};

pub(super) const BEYOND_LIMIT: Explanation = Explanation {
    title: "a limit of the parser",
    text: "The parser has limits, so that no input can exhaust the machine: parentheses, negations, comparisons and \
             blocks may be nested 256 levels deep in total; a file must be smaller than 4 GiB; a step makes at most \
             half a million choices; and initial values may not grow beyond a million operators when they are \
             substituted into one another. Chains like `a & b & c` do not count as nested, however long they are.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x := !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!\
             !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!\
             !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!\
             !!!!!!!x;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := !x;\n\
             end\n",
};

pub(super) const NOT_TRUTH_VALUE: Explanation = Explanation {
    title: "a number that is not a truth value",
    text: "Variables hold truth values, and the constants are `0` and `1`, which can also be written `F` and `T`. \
             Other numbers can only be labels.",
    wrong: "decl x;\n\
             void main() begin\n\
             \x20 x := 2;\n\
             end\n",
    right: "decl x;\n\
             void main() begin\n\
             \x20 x := 1;\n\
             end\n",
};

pub(super) const RESERVED_WORD: Explanation = Explanation {
    title: "a keyword as the name of a variable",
    text: "Keywords like `skip` or `end` cannot be the name of a variable, and neither can the constants `T` and \
             `F`, nor `_`, which discards a value. Procedures and labels may have such names where they are \
             unambiguous. `shared`, `init`, `process`, `once` and `thread_local` are keywords only in some contexts, \
             so you can use them freely as names.",
    wrong: "decl skip;\n\
             void main() begin\n\
             \x20 assume(1);\n\
             end\n",
    right: "decl skipped;\n\
             void main() begin\n\
             \x20 assume(skipped);\n\
             end\n",
};

pub(super) const MISPLACED_DECLARATION: Explanation = Explanation {
    title: "a declaration in the wrong place",
    text: "`decl` and `enforce` belong directly between the `begin` and `end` of a procedure, not inside an `if` or \
             `while`, and not after a label. A variable with one copy per thread (`decl thread_local`) is declared \
             outside the procedures.",
    wrong: "void main() begin\n\
             \x20 if * then\n\
             \x20   decl x;\n\
             \x20   x := 1;\n\
             \x20 fi;\n\
             end\n",
    right: "void main() begin\n\
             \x20 decl x;\n\
             \x20 if * then\n\
             \x20   x := 1;\n\
             \x20 fi;\n\
             end\n",
};

pub(super) const NUMBER_OUT_OF_RANGE: Explanation = Explanation {
    title: "a number that is too small or too large",
    text: "The number of return values in `bool<n>` and the number of threads in `process NAME [n]` must be between \
             1 and 65536.",
    wrong: "bool<0> f() begin\n\
             \x20 return;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
    right: "void f() begin\n\
             \x20 return;\n\
             end\n\
             void main() begin\n\
             \x20 f();\n\
             end\n",
};

pub(super) const CALL_IN_EXPRESSION: Explanation = Explanation {
    title: "a call inside an expression",
    text: "A call is a statement of its own: `f(e);` or `x, y := f(e);`. Calls cannot appear inside expressions, \
             conditions or lists of values, because a call is more than one step. Assign its result to a variable \
             first.",
    wrong: "decl x;\n\
             bool f() begin\n\
             \x20 return *;\n\
             end\n\
             void main() begin\n\
             \x20 x := !f();\n\
             end\n",
    right: "decl x;\n\
             bool f() begin\n\
             \x20 return *;\n\
             end\n\
             void main() begin\n\
             \x20 x := f();\n\
             \x20 x := !x;\n\
             end\n",
};
