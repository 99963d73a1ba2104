//! Expressions that people ask about while they walk: `x & !y`, `count <= 3`, with the operators and precedences of
//! Boolean programs (`docs/language.md`) and comparisons and sums for integers.
//!
//! Names are looked up where the question was posed: among the locals of a frame, then the thread's variables, then the
//! shared ones. Truth values are 0 and 1 in comparisons, so that `x = 1` means what it says.

use std::collections::BTreeSet;

use selvedge_frontend::nearest;
use selvedge_ir::{Value, VarId};

use crate::names::Names;
use crate::views::{Holders, is_hidden};

/// An expression that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    root: Node,
}

/// Why an expression has no meaning, or no value here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotReadable(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Number(i64),
    Name(String),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(&'static str, Box<(Node, Node)>),
    Choose(Box<(Node, Node, Node)>),
}

/// The operators with two operands by precedence, loosest first. Those of the first level associate to the right.
const LEVELS: [&[&str]; 6] =
    [&["=>", "->", "==", "=", "!=", "<=", ">=", "<", ">"], &["^"], &["||", "|"], &["&&", "&"], &["+", "-"], &["*"]];

/// Limit on the length of an expression, which also limits how deeply it nests.
const MAX_TOKENS: usize = 1000;

impl Watch {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Watch, NotReadable> {
        let tokens = tokens(text)?;
        if tokens.len() > MAX_TOKENS {
            return Err(NotReadable(format!("an expression has at most {MAX_TOKENS} words and signs")));
        }
        let mut reader = Reader { tokens: &tokens, at: 0 };
        let root = reader.choice()?;
        match reader.peek() {
            None => Ok(Watch { root }),
            Some(rest) => Err(NotReadable(format!("`{rest}` is not expected here"))),
        }
    }

    /// The value, where `lookup` knows the values of names. Truth values stay truth values, unless they are computed
    /// with.
    pub fn value(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<Value, NotReadable> {
        value(&self.root, lookup)
    }

    /// Returns the names in the expression, each once, in the order of their first mention.
    pub fn names(&self) -> Vec<&str> {
        let (mut found, mut open): (Vec<&str>, Vec<&Node>) = (Vec::new(), vec![&self.root]);
        while let Some(node) = open.pop() {
            match node {
                Node::Number(_) => {}
                Node::Name(name) => found.extend(Some(name.as_str()).filter(|name| !found.contains(name))),
                Node::Not(operand) | Node::Minus(operand) => open.push(operand),
                Node::Binary(_, pair) => open.extend([&pair.1, &pair.0]),
                Node::Choose(parts) => open.extend([&parts.2, &parts.1, &parts.0]),
            }
        }
        found
    }

    /// Returns whether the expression is true, or not zero.
    pub fn holds(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<bool, NotReadable> {
        self.value(lookup).map(|value| value.number() != 0)
    }
}

fn value(node: &Node, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<Value, NotReadable> {
    let truth = |node: &Node| value(node, lookup).map(|value| value.number() != 0);
    let overflow = || NotReadable("the number leaves the range of 64 bits".to_string());
    let number = |value: Value| i64::try_from(value.number()).map_err(|_| overflow());
    Ok(match node {
        Node::Number(number) => Value::Int(*number),
        Node::Name(name) => lookup(name).ok_or_else(|| NotReadable(format!("there is no variable `{name}` here")))?,
        Node::Not(operand) => Value::Bool(!truth(operand)?),
        Node::Minus(operand) => Value::Int(number(value(operand, lookup)?)?.checked_neg().ok_or_else(overflow)?),
        Node::Choose(parts) => value(if truth(&parts.0)? { &parts.1 } else { &parts.2 }, lookup)?,
        Node::Binary(op, pair) => {
            let (left, right) = (number(value(&pair.0, lookup)?)?, number(value(&pair.1, lookup)?)?);
            match *op {
                "&" | "&&" => Value::Bool(left != 0 && right != 0),
                "|" | "||" => Value::Bool(left != 0 || right != 0),
                "^" => Value::Bool((left != 0) != (right != 0)),
                "=>" | "->" => Value::Bool(left == 0 || right != 0),
                "=" | "==" => Value::Bool(left == right),
                "!=" => Value::Bool(left != right),
                "<" => Value::Bool(left < right),
                "<=" => Value::Bool(left <= right),
                ">" => Value::Bool(left > right),
                ">=" => Value::Bool(left >= right),
                "+" => Value::Int(left.checked_add(right).ok_or_else(overflow)?),
                "-" => Value::Int(left.checked_sub(right).ok_or_else(overflow)?),
                _ => Value::Int(left.checked_mul(right).ok_or_else(overflow)?),
            }
        }
    })
}

/// The words and signs of a text.
fn tokens(text: &str) -> Result<Vec<String>, NotReadable> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.' | '$' | '@');
        let length = match first {
            '{' => rest.find('}').map_or(rest.len(), |end| end + 1),
            first if is_word(first) => {
                let word = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
                word + element(&rest[word..])
            }
            '(' | ')' | '?' | ':' | '!' | '~' if !rest.starts_with("!=") => 1,
            _ => {
                let signs = LEVELS.iter().flat_map(|level| level.iter());
                let longest = signs.filter(|sign| rest.starts_with(**sign)).map(|sign| sign.len()).max();
                longest.ok_or_else(|| NotReadable(format!("`{first}` is not part of an expression")))?
            }
        };
        tokens.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Returns the length of the numbers of elements that a text begins with: `[2]`, `[0][1]`.
fn element(text: &str) -> usize {
    let inner = text.strip_prefix('[').and_then(|inner| inner.split_once(']'));
    match inner.filter(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((number, rest)) => number.len() + 2 + element(rest),
        None => 0,
    }
}

struct Reader<'t> {
    tokens: &'t [String],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn choice(&mut self) -> Result<Node, NotReadable> {
        let condition = self.level(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.choice()?;
        if !self.take(":") {
            return Err(NotReadable("`:` is missing".to_string()));
        }
        Ok(Node::Choose(Box::new((condition, then, self.choice()?))))
    }

    fn level(&mut self, level: usize) -> Result<Node, NotReadable> {
        let Some(signs) = LEVELS.get(level) else { return self.operand() };
        let mut left = self.level(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.peek() == Some(**sign)) {
            self.at += 1;
            let right = self.level(if level == 0 { 0 } else { level + 1 })?;
            left = Node::Binary(sign, Box::new((left, right)));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Node, NotReadable> {
        let token = self.peek().ok_or_else(|| NotReadable("the expression ends too early".to_string()))?.to_string();
        self.at += 1;
        match token.as_str() {
            "!" | "~" => Ok(Node::Not(Box::new(self.operand()?))),
            "-" => Ok(Node::Minus(Box::new(self.operand()?))),
            "(" => {
                let inner = self.choice()?;
                if self.take(")") { Ok(inner) } else { Err(NotReadable("`)` is missing".to_string())) }
            }
            "T" | "true" => Ok(Node::Number(1)),
            "F" | "false" => Ok(Node::Number(0)),
            word if word.starts_with(|char: char| char.is_ascii_digit()) => {
                word.parse().map(Node::Number).map_err(|_| NotReadable(format!("`{word}` is not a number")))
            }
            word if word.starts_with(|char: char| char.is_alphabetic() || matches!(char, '_' | '{')) => {
                Ok(Node::Name(token))
            }
            sign => Err(NotReadable(format!("expected a value, found `{sign}`"))),
        }
    }
}

impl super::Session<'_> {
    /// Returns the names of all variables, as they are shown.
    pub fn variables(&self) -> BTreeSet<String> {
        let program = self.context.program;
        let names = Names::new(program);
        let is_shown = |var: &VarId| !is_hidden(self.context.map, *var);
        let of_system = self.annotator().system.all().map(|(_, name)| name.to_owned());
        program.vars.indices().filter(is_shown).map(|var| names.of(var)).chain(of_system).collect()
    }

    /// Reads an expression whose names are all variables of the program.
    pub fn watch(&self, text: &str) -> Result<Watch, NotReadable> {
        let watch = Watch::parse(text)?;
        let shown = self.variables();
        let is_known =
            |name: &str| shown.contains(name) || self.context.program.vars.iter().any(|var| var.name == name);
        let unknown = watch.names().into_iter().find(|name| !is_known(name));
        match unknown {
            Some(name) => Err(self.unknown(name, &shown)),
            None => Ok(watch),
        }
    }

    fn unknown(&self, name: &str, shown: &BTreeSet<String>) -> NotReadable {
        let near = nearest(name, shown.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        NotReadable(format!("there is no variable `{name}`{near}"))
    }

    /// The value of a name as a frame of a thread sees it; frame 0 is the running one.
    pub fn lookup(
        &self,
        position: usize,
        thread: Option<selvedge_ir::trace::ThreadId>,
        frame: usize,
        name: &str,
    ) -> Option<Value> {
        let state = self.state(position);
        let thread = thread.and_then(|id| state.thread(id));
        let of_thread = thread.map(|thread| {
            let frame = thread.stack.iter().rev().nth(frame).unwrap_or_else(|| thread.top());
            self.annotator().locals(frame).into_iter().chain(self.annotator().thread_vars(thread))
        });
        let mut all = of_thread.into_iter().flatten().chain(self.annotator().shared(&Holders::new(), state));
        let vars = &self.context.program.vars;
        let plain =
            |binding: &crate::annotated_trace::Binding| vars.get(binding.var).is_some_and(|var| var.name == name);
        all.find(|binding| binding.name == name || plain(binding)).map(|binding| binding.value)
    }

    /// The value of an expression as a frame of a thread sees it.
    pub fn evaluate(
        &self,
        position: usize,
        thread: Option<selvedge_ir::trace::ThreadId>,
        frame: usize,
        watch: &Watch,
    ) -> Result<Value, NotReadable> {
        watch.value(&|name| self.lookup(position, thread, frame, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<Value> {
        match name {
            "yes" => Some(Value::Bool(true)),
            "no" => Some(Value::Bool(false)),
            "{x = 1}" => Some(Value::Bool(true)),
            "a[1][0]" => Some(Value::Int(5)),
            "n" => Some(Value::Int(7)),
            _ => None,
        }
    }

    fn value_of(text: &str) -> Result<i64, String> {
        let watch = Watch::parse(text).map_err(|error| error.0)?;
        watch.value(&lookup).map(|value| value.number() as i64).map_err(|error| error.0)
    }

    #[test]
    fn operators_have_the_precedences_of_boolean_programs() {
        for (text, expected) in [
            ("yes & no | yes", 1),
            ("!no & !yes", 0),
            ("no = no & no", 1),
            ("no => no => no", 1),
            ("yes ^ yes ^ yes", 1),
            ("n - 2 * 3 = 1", 1),
            ("n - 1 - 1", 5),
            ("-n < 0", 1),
            ("n >= 7 ? 10 : 20", 10),
            ("{x = 1} & (n != 3)", 1),
            ("yes = 1", 1),
            ("a[1][0] + 1", 6),
        ] {
            assert_eq!(value_of(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn names_are_listed_once_in_their_order() {
        let watch = Watch::parse("b & (a ? -c : b) | {x = 1} = 7").unwrap();
        assert_eq!(watch.names(), ["b", "a", "c", "{x = 1}"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, part) in [
            ("", "too early"),
            ("yes &", "too early"),
            ("(yes", "`)` is missing"),
            ("yes no", "`no` is not expected here"),
            ("wrong", "no variable `wrong`"),
            ("yes ; no", "`;`"),
            ("9223372036854775807 + 1", "64 bits"),
            ("yes ? no", "`:` is missing"),
        ] {
            let error = value_of(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
