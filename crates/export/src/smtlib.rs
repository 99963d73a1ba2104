//! Formulas over a program's variables as SMT-LIB text, and back.
//!
//! A variable is written as a quoted symbol with its name; if the name is not unique or cannot be quoted, `@` and its
//! number are appended.

use std::collections::BTreeMap;

use selvedge_ir::{BinaryOp, Expr, Let, MachineOp, MachineTy, Program, Ty, UnaryOp, VarId};

/// The symbol of each variable, without its bars.
pub struct Symbols {
    names: Vec<String>,
    vars: BTreeMap<String, VarId>,
}

impl Symbols {
    /// Returns the symbols of a program's variables.
    pub fn new(program: &Program) -> Symbols {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        program.vars.iter().for_each(|var| *uses.entry(&var.name).or_default() += 1);
        let is_plain = |name: &str| uses[name] == 1 && !name.contains(['|', '\\', '@']);
        let symbol = |(id, name): (VarId, &str)| match is_plain(name) {
            true => name.to_string(),
            false => format!("{}@{}", name.replace(['|', '\\'], "_"), id.index()),
        };
        let names: Vec<String> = program.vars.iter_enumerated().map(|(id, var)| symbol((id, &var.name))).collect();
        let vars = names.iter().cloned().zip(program.vars.indices()).collect();
        Symbols { names, vars }
    }

    /// Prints a formula over plain variables.
    ///
    /// # Panics
    ///
    /// If it has other leaves.
    pub fn write(&self, expr: &Expr) -> String {
        term(expr, word, &|leaf| match leaf {
            Expr::Var(var) => format!("|{}|", self.names[var.index()]),
            _ => unreachable!("formulas of certificates have plain variables only"),
        })
    }

    /// Reads a formula, or says what is wrong. Types are not checked.
    pub fn read(&self, text: &str) -> Result<Expr, String> {
        let mut reader = Reader { symbols: self, rest: text, depth: 0 };
        let expr = reader.expr()?;
        if reader.rest.trim_start().is_empty() { Ok(expr) } else { Err("there is text after the formula".to_string()) }
    }
}

/// Returns declarations of a program's variables, for use with a solver by hand.
pub fn declarations(program: &Program) -> String {
    let symbols = Symbols::new(program);
    let line = |(name, ty): (&String, Ty)| format!("(declare-const |{name}| {})\n", sort(ty));
    symbols.names.iter().zip(program.vars.iter().map(|var| var.ty)).map(line).collect()
}

const WORDS: [(BinaryOp, &str); 11] = [
    (BinaryOp::And, "and"),
    (BinaryOp::Or, "or"),
    (BinaryOp::Xor, "xor"),
    (BinaryOp::Implies, "=>"),
    (BinaryOp::Eq, "="),
    (BinaryOp::Ne, "distinct"),
    (BinaryOp::Add, "+"),
    (BinaryOp::Sub, "-"),
    (BinaryOp::Mul, "*"),
    (BinaryOp::Lt, "<"),
    (BinaryOp::Le, "<="),
];

/// Returns the name of an operator.
pub(crate) fn word(op: BinaryOp) -> &'static str {
    if let BinaryOp::Machine(op, ty) = op {
        return machine_word(op, ty);
    }
    WORDS.iter().find(|(known, _)| *known == op).expect("all operators are listed").1
}

/// Returns the name of an operator on machine integers. Those of bit vectors are total in the same way.
pub(crate) fn machine_word(op: MachineOp, ty: MachineTy) -> &'static str {
    let (signed, unsigned) = match op {
        MachineOp::Add => ("bvadd", "bvadd"),
        MachineOp::Sub => ("bvsub", "bvsub"),
        MachineOp::Mul => ("bvmul", "bvmul"),
        MachineOp::Div => ("bvsdiv", "bvudiv"),
        MachineOp::Rem => ("bvsrem", "bvurem"),
        MachineOp::And => ("bvand", "bvand"),
        MachineOp::Or => ("bvor", "bvor"),
        MachineOp::Xor => ("bvxor", "bvxor"),
        MachineOp::Shl => ("bvshl", "bvshl"),
        MachineOp::Shr => ("bvashr", "bvlshr"),
        MachineOp::Lt => ("bvslt", "bvult"),
        MachineOp::Le => ("bvsle", "bvule"),
    };
    if ty.signed { signed } else { unsigned }
}

/// Returns the name of a type.
pub(crate) fn sort(ty: Ty) -> String {
    match ty {
        Ty::Bool => "Bool".to_string(),
        Ty::Int => "Int".to_string(),
        Ty::Machine(ty) => format!("(_ BitVec {})", ty.bits),
    }
}

/// Returns an expression as a term. `word` names the operators, `leaf` the variables and choices.
pub(crate) fn term(expr: &Expr, word: fn(BinaryOp) -> &'static str, leaf: &dyn Fn(&Expr) -> String) -> String {
    let mut text = String::new();
    write_term(expr, word, leaf, &mut text);
    text
}

fn write_term(expr: &Expr, word: fn(BinaryOp) -> &'static str, leaf: &dyn Fn(&Expr) -> String, text: &mut String) {
    let mut apply = |operator: &str, operands: &[&Expr], end: &str| {
        text.extend(["(", operator]);
        for operand in operands {
            text.push(' ');
            write_term(operand, word, leaf, text);
        }
        text.push_str(end);
    };
    match expr {
        Expr::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Expr::Int(value) if *value < 0 => text.push_str(&format!("(- {})", value.unsigned_abs())),
        Expr::Int(value) => text.push_str(&value.to_string()),
        Expr::Unary(UnaryOp::Not, operand) => apply("not", &[operand], ")"),
        Expr::Unary(UnaryOp::Neg, operand) => apply("-", &[operand], ")"),
        Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => {
            apply("= (mod", &[operand], &format!(" {divisor}) 0)"));
        }
        Expr::Unary(UnaryOp::Cast(from, to), operand) => apply(&resized(*from, *to), &[operand], ")"),
        Expr::Machine(ty, bits) => text.push_str(&format!("(_ bv{bits} {})", ty.bits)),
        Expr::Let(shared) => write_let(shared, word, leaf, text),
        Expr::Part(number) => text.push_str(&part(*number)),
        Expr::Binary(op, pair) => apply(word(*op), &[&pair.0, &pair.1], ")"),
        Expr::Ite(triple) => apply("ite", &[&triple.0, &triple.1, &triple.2], ")"),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => {
            text.push_str(&leaf(expr));
        }
    }
}

/// Returns the operator that makes a bit vector longer or shorter.
fn resized(from: MachineTy, to: MachineTy) -> String {
    match (to.bits.checked_sub(from.bits), from.signed) {
        (Some(more @ 1..), true) => format!("(_ sign_extend {more})"),
        (Some(more @ 1..), false) => format!("(_ zero_extend {more})"),
        _ => format!("(_ extract {} 0)", to.bits - 1),
    }
}

fn part(number: u32) -> String {
    format!("part!{number}")
}

fn write_let(shared: &Let, word: fn(BinaryOp) -> &'static str, leaf: &dyn Fn(&Expr) -> String, text: &mut String) {
    for (number, value) in &shared.parts {
        text.push_str(&format!("(let (({} ", part(*number)));
        write_term(value, word, leaf, text);
        text.push_str(")) ");
    }
    write_term(&shared.body, word, leaf, text);
    text.push_str(&")".repeat(shared.parts.len()));
}

/// Limit on the nesting of formulas that are read.
const DEPTH: usize = 2_000;

struct Reader<'a> {
    symbols: &'a Symbols,
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Returns the next word, parenthesis or quoted symbol with its bars.
    fn token(&mut self) -> Result<&'a str, String> {
        let text = self.rest.trim_start();
        let length = match text.chars().next() {
            None => return Err("the formula ends too early".to_string()),
            Some('(' | ')') => 1,
            Some('|') => 2 + text[1..].find('|').ok_or("a quoted symbol does not end")?,
            Some(_) => text.find(|c: char| c.is_whitespace() || "()|".contains(c)).unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at(length);
        self.rest = rest;
        Ok(token)
    }

    fn peek(&self) -> Option<char> {
        self.rest.trim_start().chars().next()
    }

    fn expr(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("the formula is nested too deeply".to_string());
        }
        let token = self.token()?;
        let expr = match token {
            "(" => self.application()?,
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            _ => self.leaf(token)?,
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn leaf(&self, token: &str) -> Result<Expr, String> {
        if let Ok(value) = token.parse() {
            return Ok(Expr::Int(value));
        }
        let name = token.strip_prefix('|').and_then(|name| name.strip_suffix('|')).unwrap_or(token);
        let var = self.symbols.vars.get(name).ok_or_else(|| format!("`{token}` is neither a variable nor a number"))?;
        Ok(Expr::Var(*var))
    }

    fn application(&mut self) -> Result<Expr, String> {
        let operator = self.token()?;
        let mut operands = Vec::new();
        while self.peek() != Some(')') {
            // A remainder only occurs in comparisons with zero.
            operands.push(if operator == "=" && self.rest.trim_start().starts_with("(mod ") {
                return self.divisibility();
            } else {
                self.expr()?
            });
        }
        self.token()?;
        combined(operator, operands)
    }

    /// Reads `(mod e n) 0)`, after the operator.
    fn divisibility(&mut self) -> Result<Expr, String> {
        let wrong = || "a remainder must be by a positive constant and compared with 0".to_string();
        self.token()?;
        self.token()?;
        let operand = self.expr()?;
        let divisor: u32 = self.token()?.parse().map_err(|_| wrong())?;
        let end = [self.token()?, self.token()?, self.token()?];
        if end != [")", "0", ")"] || divisor == 0 {
            return Err(wrong());
        }
        Ok(Expr::Unary(UnaryOp::DivisibleBy(divisor), Box::new(operand)))
    }
}

fn combined(operator: &str, mut operands: Vec<Expr>) -> Result<Expr, String> {
    let wrong = || format!("`{operator}` is not supported here");
    match (operator, operands.len()) {
        ("not", 1) => Ok(Expr::Unary(UnaryOp::Not, Box::new(operands.remove(0)))),
        ("-", 1) => Ok(match operands.remove(0) {
            Expr::Int(value) => Expr::Int(value.checked_neg().ok_or("a number leaves the range of 64 bits")?),
            operand => Expr::Unary(UnaryOp::Neg, Box::new(operand)),
        }),
        ("ite", 3) => {
            let otherwise = operands.remove(2);
            let then = operands.remove(1);
            Ok(Expr::Ite(Box::new((operands.remove(0), then, otherwise))))
        }
        (_, 2..) => {
            let op = WORDS.iter().find(|(_, word)| *word == operator).ok_or_else(wrong)?.0;
            let is_chain = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Add);
            if operands.len() > 2 && !is_chain {
                return Err(wrong());
            }
            Ok(chain(op, operands))
        }
        _ => Err(wrong()),
    }
}

/// Combines operands, one at least, in pairs, pairs of pairs and so on, so that many of them do not nest deeply.
fn chain(op: BinaryOp, mut operands: Vec<Expr>) -> Expr {
    let right = operands.split_off(operands.len().div_ceil(2));
    if right.is_empty() {
        return operands.remove(0);
    }
    Expr::Binary(op, Box::new((chain(op, operands), chain(op, right))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_ir::{Scope, Var};

    fn program() -> Program {
        let var = |name: &str, ty| Var { name: name.to_string(), scope: Scope::Shared, ty };
        let vars = [var("x", Ty::Int), var("a b", Ty::Int), var("p", Ty::Bool), var("x@3", Ty::Int), var("x", Ty::Int)];
        Program { vars: vars.into_iter().collect(), ..Program::default() }
    }

    #[test]
    fn what_is_written_is_read() {
        let symbols = Symbols::new(&program());
        let texts = [
            "(and |p| (or (<= |x@0| (- 3)) (not (= (mod (+ |a b| |x@4|) 3) 0))))",
            "(=> (< |x@0| (- |a b|)) (= (ite |p| |x@3@3| 0) (* 2 |x@4|)))",
            "(distinct |p| (xor true false))",
        ];
        for text in texts {
            let expr = symbols.read(text).expect("it can be read");
            assert_eq!(symbols.write(&expr), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let symbols = Symbols::new(&program());
        let deep = format!("{}|p|{}", "(not ".repeat(5000), ")".repeat(5000));
        for text in
            ["", "(", "(and |p|", "|q|", "x", "(foo |p| |p|)", "|p| |p|", "(= (mod |a b| 0) 0)", "(not)", "()", &deep]
        {
            assert!(symbols.read(text).is_err(), "{text:.40}");
        }
    }
}
