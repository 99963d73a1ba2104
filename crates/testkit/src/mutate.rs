//! Broken texts: mutations of sources by bytes and by tokens, for the reader and the formatter.

use crate::rng::Rng;

/// The greatest length of a mutant, which bounds the work on each one.
pub const MAX_LEN: usize = 20_000;

/// Words and signs of the language, and some that are not part of it, separated by single spaces.
const WORDS: &str = "\
    decl shared thread_local void bool bool<2> begin end main if then elsif else fi while do od goto assert \
    assume constrain enforce abortif dead skip print return start_thread end_thread thread_end atomic_begin \
    atomic_end sync ASYNC_1: schoose choose process init once thread0 T F 0 1 * ? : := ; , ( ) [ ] { } \
    {x==1} { < > ! ~ ' & && | || ^ = == != => -> $ x$ 'x$ _ // /* */ # \n \r\n \t \u{0} \u{feff} ä \
    9999999999999999999999 \" \\ . @";

/// What a language has besides letters: words and signs, brackets, and what can be nested.
pub struct Flavour {
    words: &'static str,
    brackets: &'static [&'static str],
    nests: &'static [(&'static str, &'static str)],
}

/// Boolean programs and guarded commands.
pub const PROGRAMS: Flavour = Flavour {
    words: WORDS,
    brackets: &["(", ")", "[", "]", "{", "}", "begin", "end", "fi;", "od;", "if T then", "while * do", "/*", "*/"],
    nests: &[
        ("(", ")"),
        ("!", ""),
        ("if * then ", " fi;"),
        ("while T do ", " od;"),
        ("a ? ", " : b"),
        ("x = ", ""),
        ("schoose[", ",F]"),
        ("x & (", ")"),
        ("l: ", ""),
        ("(x, ", ")"),
        ("start_thread ", ""),
    ],
};

/// C.
pub const C: Flavour = Flavour {
    words: "\
        int char short long unsigned signed _Bool void float double struct union enum typedef static extern volatile \
        const _Atomic _Thread_local inline sizeof _Alignof if else while do for switch case default break continue \
        goto return main x i f argument 0 1 -1 2 07 0xffu 4294967296 9223372036854775808 1.5 'a' '\\n' \"s\" L'x' ; , \
        ( ) [ ] { } * & + - / % ! ~ ^ | && || == != < > <= >= << >> = += -= *= /= %= &= |= ^= <<= >>= ++ -- -> . ... \
        ? : # ## #define #include #if #endif #undef #line \n#define \n#if \n#else \n#endif \n#include<pthread.h> \n \
        __VA_ARGS__ __attribute__((packed)) __extension__ typeof ({ }) asm /* */ // \\ \\\n $ @ \u{0} \u{feff} ä \
        assert(0); pthread_create(&t,0,f,0); pthread_mutex_lock(&m); __VERIFIER_atomic_begin(); malloc( int*p; \
        int(*g)(int); int*a[3]; struct{int:0;}s; L: goto\tL; case\t1: case\t1...3: default: __CPROVER_ASYNC_1:",
    brackets: &["(", ")", "[", "]", "{", "}", "({", "})", "/*", "*/", "\"", "'", "#if 1\n", "\n#endif\n", "\\\n"],
    nests: &[
        ("(", ")"),
        ("!", ""),
        ("{", "}"),
        ("if (x) ", ""),
        ("if (x) ; else ", ""),
        ("while (1) ", ""),
        ("do ", " while (x);"),
        ("x ? ", " : 1"),
        ("x = ", ""),
        ("*", ""),
        ("&", ""),
        ("(int)", ""),
        ("f(", ")"),
        ("a[", "]"),
        ("({ ", "; })"),
        ("x, ", ""),
        ("sizeof ", ""),
        ("struct { ", " x; }"),
        ("\n#if 1\n", "\n#endif\n"),
        ("- ", ""),
    ],
};

fn word(rng: &mut Rng, flavour: &Flavour) -> &'static str {
    let words: Vec<&str> = flavour.words.split(' ').filter(|word| !word.is_empty()).collect();
    words[rng.below(words.len())]
}

/// Makes a mutant of one of the sources by a few successive mutations. The sources are not empty.
pub fn mutate(rng: &mut Rng, sources: &[String]) -> Vec<u8> {
    mutate_in(rng, sources, &PROGRAMS)
}

/// Makes a mutant of one of the sources of a language.
pub fn mutate_in(rng: &mut Rng, sources: &[String], flavour: &Flavour) -> Vec<u8> {
    let mut text = source(rng, sources).as_bytes().to_vec();
    for _ in 0..1 + rng.below(4).min(rng.below(4)) {
        mutate_once(rng, sources, &mut text, flavour);
        text.truncate(MAX_LEN);
    }
    text
}

/// Picks one source, or a window of it if it is long.
fn source<'s>(rng: &mut Rng, sources: &'s [String]) -> &'s str {
    let text = rng.pick(sources).expect("there are sources");
    if text.len() <= MAX_LEN {
        return text;
    }
    let mut start = rng.below(text.len() - MAX_LEN);
    let mut end = start + MAX_LEN;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[start..end]
}

fn mutate_once(rng: &mut Rng, sources: &[String], text: &mut Vec<u8>, flavour: &Flavour) {
    match rng.below(14) {
        0 => {
            let token = token(rng, text);
            text.drain(token);
        }
        1 => {
            let range = token(rng, text);
            let copy = text[range.clone()].to_vec();
            text.splice(range.end..range.end, copy);
        }
        2 => swap_tokens(rng, text),
        3 => replace_token(rng, text, flavour),
        4 | 5 => insert_word(rng, text, flavour),
        6 => text.truncate(rng.between(0, text.len())),
        7 => drop(text.drain(..rng.between(0, text.len()))),
        8 => insert_bytes(rng, text),
        9 => flip_byte(rng, text),
        10 => splice(rng, sources, text),
        11 => unbalance(rng, text, flavour),
        12 => nest(rng, text, flavour),
        _ => delete_lines(rng, text),
    }
}

/// Picks the range of a token: a word, a run of blanks, or one other byte.
fn token(rng: &mut Rng, text: &[u8]) -> std::ops::Range<usize> {
    if text.is_empty() {
        return 0..0;
    }
    let class = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => 0,
        b' ' | b'\t' | b'\n' | b'\r' => 1,
        _ => 2,
    };
    let at = rng.below(text.len());
    let (mut start, mut end) = (at, at + 1);
    if class(text[at]) < 2 {
        while start > 0 && class(text[start - 1]) == class(text[at]) {
            start -= 1;
        }
        while end < text.len() && class(text[end]) == class(text[at]) {
            end += 1;
        }
    }
    start..end
}

fn swap_tokens(rng: &mut Rng, text: &mut Vec<u8>) {
    let (mut left, mut right) = (token(rng, text), token(rng, text));
    if left.start > right.start {
        std::mem::swap(&mut left, &mut right);
    }
    if left.end <= right.start {
        let early = text[left.clone()].to_vec();
        let late = text[right.clone()].to_vec();
        text.splice(right, early);
        text.splice(left, late);
    }
}

fn replace_token(rng: &mut Rng, text: &mut Vec<u8>, flavour: &Flavour) {
    let range = token(rng, text);
    let other = token(rng, text);
    let with = if rng.coin() { text[other].to_vec() } else { word(rng, flavour).as_bytes().to_vec() };
    text.splice(range, with);
}

fn insert_word(rng: &mut Rng, text: &mut Vec<u8>, flavour: &Flavour) {
    let at = token(rng, text).start;
    let word = word(rng, flavour);
    let word = if rng.coin() { format!(" {word} ") } else { word.to_string() };
    text.splice(at..at, word.into_bytes());
}

fn insert_bytes(rng: &mut Rng, text: &mut Vec<u8>) {
    let at = rng.between(0, text.len());
    let bytes: Vec<u8> = (0..rng.between(1, 6)).map(|_| rng.below(256) as u8).collect();
    text.splice(at..at, bytes);
}

fn flip_byte(rng: &mut Rng, text: &mut [u8]) {
    if !text.is_empty() {
        let at = rng.below(text.len());
        text[at] ^= 1 << rng.below(8);
    }
}

/// Joins the beginning of this text and the end of another.
fn splice(rng: &mut Rng, sources: &[String], text: &mut Vec<u8>) {
    let other = source(rng, sources).as_bytes();
    text.truncate(rng.between(0, text.len()));
    text.extend_from_slice(&other[rng.between(0, other.len())..]);
}

fn unbalance(rng: &mut Rng, text: &mut Vec<u8>, flavour: &Flavour) {
    let brackets = flavour.brackets;
    for _ in 0..rng.between(1, 3) {
        let at = token(rng, text).start;
        let bracket = format!(" {} ", brackets[rng.below(brackets.len())]);
        text.splice(at..at, bracket.into_bytes());
    }
}

/// Inserts deep nesting, mostly closed again, sometimes not.
fn nest(rng: &mut Rng, text: &mut Vec<u8>, flavour: &Flavour) {
    let (open, close) = flavour.nests[rng.below(flavour.nests.len())];
    let depth = [3, 50, 3000][rng.below(3)];
    let closed = if rng.percent(80) { depth } else { rng.below(depth) };
    let range = token(rng, text);
    text.splice(range.end..range.end, close.repeat(closed).into_bytes());
    text.splice(range.start..range.start, open.repeat(depth).into_bytes());
}

fn delete_lines(rng: &mut Rng, text: &mut Vec<u8>) {
    let breaks: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
    if let (Some(&one), Some(&two)) = (rng.pick(&breaks), rng.pick(&breaks)) {
        text.drain(one.min(two)..one.max(two));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_are_reproducible_short_and_different() {
        let sources =
            ["decl x;\nvoid main() begin\n  x := T;\n  assert(x);\nend\n".to_string(), "skip;".repeat(10_000)];
        let mutants = |seed| -> Vec<Vec<u8>> {
            let mut rng = Rng::new(seed);
            (0..500).map(|_| mutate(&mut rng, &sources)).collect()
        };
        assert_eq!(mutants(1), mutants(1));
        assert!(mutants(1).iter().all(|text| text.len() <= MAX_LEN));
        let different: std::collections::BTreeSet<Vec<u8>> = mutants(1).into_iter().collect();
        assert!(different.len() > 400, "{}", different.len());
    }
}
