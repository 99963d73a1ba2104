//! Findings of the lexer and the parser.

use super::Explanation;

pub(super) const STRAY_CHARACTER: Explanation = Explanation {
    title: "a character that is not part of the language",
    text: "Outside comments, a program consists of ASCII words, numbers and operators. Any other character \
             is reported once and skipped. A word with non-ASCII letters, or one that begins with a digit, is \
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
    text: "A comment that begins with `/*` extends to the next `*/`. If there is none, the rest of the file \
             is treated as a comment. These comments do not nest: the first `*/` ends them. Comments that \
             begin with `//` or `#` extend to the end of the line.",
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
    title: "unexpected input",
    text: "The text does not follow the grammar here. The message says what was expected and what was \
             found. Parsing continues at the next `;`, at the next word that closes a block, or at the \
             beginning of the next statement, so that later errors are reported as well.",
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
    title: "a block or parenthesis that is not closed",
    text: "Every `(` needs a `)`, every `if` a `fi`, every `while` an `od`, and every `begin` an `end`. The \
             error points to the opening word; a second label shows where the closing one was expected at the \
             latest. It may be missing much earlier.",
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
    title: "a missing `;`",
    text: "Statements and declarations end with `;`. It may be omitted before `end`, `fi`, `od`, `else` and \
             `elsif`, and after `fi` and `od`. Here another statement follows.",
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
    title: "a limit is exceeded",
    text: "Limits ensure that no input can exhaust the machine: parentheses, negations, comparisons and \
             blocks may be nested up to 256 levels deep in total; a file must be smaller than 4 GiB; a step \
             may make at most half a million choices; and initial values that refer to each other must not \
             expand to more than a million operators. Chains like `a & b & c` do not count as nested, however \
             long they are.",
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
    text: "Variables hold truth values, and the constants are `0` and `1`, also written `F` and `T`. Other \
             numbers can only be labels.",
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
    title: "a reserved word used as the name of a variable",
    text: "Words like `skip` or `end` cannot be names of variables, and neither can the constants `T` and \
             `F` and the placeholder `_`. Procedures and labels may have such names where this is \
             unambiguous. The words `shared`, `init`, `process`, `once` and `thread_local` are only special \
             in some positions and can be used freely.",
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
    title: "a misplaced declaration",
    text: "`decl` and `enforce` must be placed directly between `begin` and `end` of a procedure, not \
             inside `if` or `while` and not after a label. Variables with one copy per thread (`decl \
             thread_local`) are declared outside procedures.",
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
    title: "a number out of range",
    text: "The number of returned values in `bool<n>` and the number of threads in `process NAME [n]` must \
             be between 1 and 65536.",
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
    text: "A call is a separate statement: `f(e);` or `x, y := f(e);`. It cannot be part of an expression, \
             a condition, or a list of values, because it takes more than one step. Assign its result to a \
             variable first.",
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
