//! Findings of the lexer and the parser.

use super::Explanation;

pub(super) const STRAY_CHARACTER: Explanation = Explanation {
    title: "a character that is not part of the language",
    text: "Outside comments a program consists of ASCII words, numbers and signs. A character that belongs \
             to none of them is reported once and skipped. A word with letters outside ASCII, or one that \
             begins with a digit, is reported and then taken as a name, so that it gives no further \
             complaints.",
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
    text: "A comment that begins with `/*` goes on to the next `*/`. Without one, the rest of the file is \
             taken as the comment. Comments of this kind do not nest: the first `*/` ends them. Comments that \
             begin with `//` or `#` end with the line.",
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
    text: "The text does not follow the grammar at this place. The message says what could stand there and \
             what was found. The reader goes on at the next `;`, at the next word that closes a block, or \
             where a new statement begins, so that a later mistake is reported as well.",
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
    title: "something is opened and not closed",
    text: "Every `(` needs its `)`, every `if` its `fi`, every `while` its `od`, every `begin` its `end`. \
             The place that is marked is the one that opens; a second mark says where the end was missed at \
             the latest. The missing word may belong much further up.",
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
    text: "Statements and declarations end with `;`. It may be left out before `end`, `fi`, `od`, `else` \
             and `elsif`, and after `fi` and `od`. Here another statement follows at once.",
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
    title: "beyond a limit of the reader",
    text: "The reader has limits so that no text can exhaust the machine: parentheses, negations, \
             comparisons and blocks may be nested 256 levels deep, counted together; a file is smaller than 4 \
             GiB; a step makes at most half a million choices; and initial values that are put into one \
             another may not grow beyond a million operators. Chains like `a & b & c` are not nested, however \
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
    title: "a number that is no truth value",
    text: "Variables hold truth values, and the constants are `0` and `1`, which can also be written `F` \
             and `T`. Other numbers can only be labels.",
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
    title: "a word of the language as the name of a variable",
    text: "Words like `skip` or `end` cannot name a variable, nor can the constants `T` and `F` and the \
             sign `_` for a discarded value. Procedures and labels may have such names, where no confusion is \
             possible. The words `shared`, `init`, `process`, `once` and `thread_local` are special in some \
             places only and can be used freely.",
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
    title: "a declaration where none can be",
    text: "`decl` and `enforce` stand directly between `begin` and `end` of a procedure, not inside `if` or \
             `while`, and not behind a label. A variable with one copy per thread (`decl thread_local`) is \
             declared outside the procedures.",
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
    text: "The number of returned values in `bool<n>` and the number of threads in `process NAME [n]` are \
             between 1 and 65536.",
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
    text: "A call is a statement of its own: `f(e);` or `x, y := f(e);`. It cannot be part of an \
             expression, a condition, or a list of values, since it is more than one step. Assign its result \
             to a variable first.",
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
