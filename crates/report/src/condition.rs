//! Conditions over integers for people: sums without negative terms, names for the values of program counters.
//!
//! The text is equivalent to the condition, but need not have its shape: `x + -1 * y <= 0` is `x <= y`, and `!(2 <= p)`
//! for a counter `p` with the values `idle`, `waiting`, `critical` is `!(p at critical)`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use selvedge_ir::{BinaryOp, Expr, MachineOp, UnaryOp, VarId, text};

use crate::annotated_trace::Context;
use crate::names::Names;

/// The precedence of an operator, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Implies,
    Or,
    And,
    Atom,
}

/// A condition as people write it.
pub(crate) fn condition(context: Context<'_>, expr: &Expr) -> String {
    Writer { context, names: Names::new(context.program) }.at_least(expr, Level::Implies)
}

/// The parts of a conjunction, each as people write it.
pub(crate) fn conjuncts(context: Context<'_>, expr: &Expr) -> Vec<String> {
    let writer = Writer { context, names: Names::new(context.program) };
    expr.conjuncts().into_iter().map(|part| writer.at_least(part, Level::And)).collect()
}

struct Writer<'a> {
    context: Context<'a>,
    names: Names<'a>,
}

impl Writer<'_> {
    /// The text, in parentheses where the condition binds looser than its place demands.
    fn at_least(&self, expr: &Expr, place: Level) -> String {
        let (text, level) = self.text(expr);
        if level < place { format!("({text})") } else { text }
    }

    fn text(&self, expr: &Expr) -> (String, Level) {
        match expr {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), _) => {
                let (level, sign) = if *op == BinaryOp::And { (Level::And, " & ") } else { (Level::Or, " | ") };
                let list: Vec<String> = expr.parts(*op).into_iter().map(|part| self.above(part, level)).collect();
                (list.join(sign), level)
            }
            Expr::Binary(BinaryOp::Implies, pair) => {
                let (left, right) = (self.at_least(&pair.0, Level::Or), self.at_least(&pair.1, Level::Implies));
                (format!("{left} => {right}"), Level::Implies)
            }
            Expr::Binary(op, pair) => match Sign::of(*op).and_then(|sign| self.comparison(sign, &pair.0, &pair.1)) {
                Some(found) => found,
                None => self.other(expr),
            },
            Expr::Unary(UnaryOp::Not, operand) => self.negation(operand),
            _ => self.other(expr),
        }
    }

    /// The text of an operand of `&` or `|`.
    fn above(&self, expr: &Expr, level: Level) -> String {
        let (text, found) = self.text(expr);
        if found <= level { format!("({text})") } else { text }
    }

    fn negation(&self, operand: &Expr) -> (String, Level) {
        if let Expr::Binary(op, pair) = operand
            && let Some(sign) = Sign::of(*op)
            && let Some(found) = self.comparison(sign.negated(), &pair.0, &pair.1)
        {
            return found;
        }
        (format!("!{}", self.at_least(operand, Level::Atom)), Level::Atom)
    }

    fn other(&self, expr: &Expr) -> (String, Level) {
        let text = text::expr(self.context.program, expr);
        let is_atom = matches!(expr, Expr::Var(_) | Expr::Bool(_) | Expr::Int(_) | Expr::Unary(..));
        (text, if is_atom { Level::Atom } else { Level::Implies })
    }

    /// `left sign right` over integers; `None` where a side is neither a sum nor a machine integer.
    fn comparison(&self, sign: Sign, left: &Expr, right: &Expr) -> Option<(String, Level)> {
        let mut sum = Sum::default();
        if sum.add(left, 1).and_then(|()| sum.add(right, -1)).is_none() {
            let (left, right) = (self.number(left, 1)?, self.number(right, 1)?);
            return Some((format!("{left} {} {right}", sign.text()), Level::Atom));
        }
        if sum.terms.is_empty() {
            return None;
        }
        if let Some(found) = self.counter(sign, &sum) {
            return Some(found);
        }
        let mut sign = sum.tighten(sign);
        let mut sides = [self.side(&sum, 1), self.side(&sum, -1)];
        // The first variable goes to the left.
        if sum.terms.values().next().is_some_and(|factor| *factor < 0) {
            sides.reverse();
            sign = sign.turned();
        }
        Some((format!("{} {} {}", sides[0], sign.text(), sides[1]), Level::Atom))
    }

    /// A machine integer as in C, in parentheses where its operator binds looser than its place demands.
    fn number(&self, expr: &Expr, place: u8) -> Option<String> {
        Some(match expr {
            Expr::Var(var) => self.names.of(*var),
            Expr::Machine(ty, bits) => ty.read(*bits).to_string(),
            Expr::Unary(UnaryOp::Cast(_, to), operand) => format!("({to}) {}", self.number(operand, 3)?),
            Expr::Binary(BinaryOp::Machine(op, _), pair) => {
                let (sign, level) = match op {
                    MachineOp::Mul => ("*", 2),
                    MachineOp::Div => ("/", 2),
                    MachineOp::Rem => ("%", 2),
                    MachineOp::Add => ("+", 1),
                    MachineOp::Sub => ("-", 1),
                    MachineOp::And => ("&", 0),
                    MachineOp::Or => ("|", 0),
                    MachineOp::Xor => ("^", 0),
                    MachineOp::Shl => ("<<", 0),
                    MachineOp::Shr => (">>", 0),
                    MachineOp::Lt | MachineOp::Le => return None,
                };
                let (left, right) = (self.number(&pair.0, level.max(1))?, self.number(&pair.1, level + 1)?);
                let text = format!("{left} {sign} {right}");
                if level < place { format!("({text})") } else { text }
            }
            _ => return None,
        })
    }

    /// The terms of one sign, with their factors made positive, and the constant if it has this sign.
    fn side(&self, sum: &Sum, sign: i64) -> String {
        let wanted = sum.terms.iter().filter(|(_, factor)| factor.signum() == sign);
        let term = |(var, factor): (&VarId, &i64)| match factor.abs() {
            1 => self.names.of(*var),
            factor => format!("{factor} * {}", self.names.of(*var)),
        };
        let mut texts: Vec<String> = wanted.map(term).collect();
        if sum.constant.signum() == sign {
            texts.push(sum.constant.abs().to_string());
        }
        if texts.is_empty() { "0".to_string() } else { texts.join(" + ") }
    }

    /// A comparison of a program counter with a constant, by the names of its values.
    fn counter(&self, sign: Sign, sum: &Sum) -> Option<(String, Level)> {
        let (var, factor) = sum.terms.iter().next().filter(|_| sum.terms.len() == 1)?;
        let words = self.context.map.values.get(var)?;
        let holds = |value: usize| Some(sign.holds(factor.checked_mul(i64::try_from(value).ok()?)? + sum.constant));
        let truths: Option<Vec<bool>> = (0..words.len()).map(holds).collect();
        let truths = truths?;
        let name = self.names.of(*var);
        let at = |value: usize| format!("{name} at {}", words[value]);
        let chosen: Vec<usize> = (0..words.len()).filter(|value| truths[*value]).collect();
        let others: Vec<usize> = (0..words.len()).filter(|value| !truths[*value]).collect();
        Some(match (chosen.as_slice(), others.as_slice()) {
            (_, []) => ("T".to_string(), Level::Atom),
            ([], _) => ("F".to_string(), Level::Atom),
            ([one], _) => (at(*one), Level::Atom),
            (_, [one]) => (format!("!({})", at(*one)), Level::Atom),
            (some, _) => (some.iter().map(|one| at(*one)).collect::<Vec<_>>().join(" | "), Level::Or),
        })
    }
}

/// The comparison of a sum with zero: the orderings of the two for which it holds, as bits.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sign(u8);

impl Sign {
    const LT: Sign = Sign(1);
    const EQ: Sign = Sign(2);
    const LE: Sign = Sign(3);
    const GT: Sign = Sign(4);
    const NE: Sign = Sign(5);
    const GE: Sign = Sign(6);

    fn of(op: BinaryOp) -> Option<Sign> {
        match op {
            BinaryOp::Eq => Some(Sign::EQ),
            BinaryOp::Ne => Some(Sign::NE),
            BinaryOp::Lt | BinaryOp::Machine(MachineOp::Lt, _) => Some(Sign::LT),
            BinaryOp::Le | BinaryOp::Machine(MachineOp::Le, _) => Some(Sign::LE),
            _ => None,
        }
    }

    fn negated(self) -> Sign {
        Sign(7 - self.0)
    }

    /// Returns the sign when the sides change places: less and greater do.
    fn turned(self) -> Sign {
        Sign(self.0 & 2 | self.0 >> 2 | (self.0 & 1) << 2)
    }

    fn text(self) -> &'static str {
        ["", "<", "=", "<=", ">", "!=", ">="][usize::from(self.0)]
    }

    fn holds(self, sum: i64) -> bool {
        let ordering = match sum.cmp(&0) {
            Ordering::Less => Sign::LT,
            Ordering::Equal => Sign::EQ,
            Ordering::Greater => Sign::GT,
        };
        self.0 & ordering.0 != 0
    }
}

/// A constant and variables with factors other than zero.
#[derive(Default)]
struct Sum {
    terms: BTreeMap<VarId, i64>,
    constant: i64,
}

impl Sum {
    /// Between variables, `x <= y` reads better than `x < y + 1`, and `x < y` better than `x + 1 <= y`.
    fn tighten(&mut self, sign: Sign) -> Sign {
        let (step, other) = match sign {
            Sign::LT => (1, Sign::LE),
            Sign::LE => (-1, Sign::LT),
            Sign::GT => (-1, Sign::GE),
            Sign::GE => (1, Sign::GT),
            _ => return sign,
        };
        let moved = self.constant.saturating_add(step);
        if self.terms.len() < 2 || moved.saturating_abs() >= self.constant.saturating_abs() {
            return sign;
        }
        self.constant = moved;
        other
    }

    /// Adds a multiple of an expression; `None` if it is not a sum, or the numbers are too large.
    fn add(&mut self, expr: &Expr, times: i64) -> Option<()> {
        match expr {
            Expr::Int(number) => self.constant = self.constant.checked_add(number.checked_mul(times)?)?,
            Expr::Var(var) => {
                let factor = self.terms.entry(*var).or_default();
                *factor = factor.checked_add(times)?;
                if *factor == 0 {
                    self.terms.remove(var);
                }
            }
            Expr::Unary(UnaryOp::Neg, operand) => self.add(operand, times.checked_neg()?)?,
            Expr::Binary(BinaryOp::Add, pair) => {
                self.add(&pair.0, times)?;
                self.add(&pair.1, times)?;
            }
            Expr::Binary(BinaryOp::Sub, pair) => {
                self.add(&pair.0, times)?;
                self.add(&pair.1, times.checked_neg()?)?;
            }
            Expr::Binary(BinaryOp::Mul, pair) => match (&pair.0, &pair.1) {
                (Expr::Int(number), other) | (other, Expr::Int(number)) => {
                    self.add(other, times.checked_mul(*number)?)?;
                }
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use selvedge_frontend::gcl::load;
    use selvedge_ir::Op;

    use super::*;
    use crate::source::Source;

    /// The condition of `safe`, as it is written here.
    fn shown(written: &str) -> String {
        let text = format!(
            "var x, y: int; var b: bool;\nprocess p {{ at idle: true -> goto waiting; at waiting: true -> goto \
             critical; at critical: true -> goto idle; }}\nsafe {written};\n"
        );
        let loaded = load(&text);
        let program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let source = Source::new("t.gcl", &text);
        let context = Context { program: &program, map: &loaded.source_map, source: &source };
        let asserted = program.edges.iter().find_map(|edge| match &edge.op {
            Op::Assert(condition) => Some(condition),
            _ => None,
        });
        condition(context, asserted.expect("there is an assertion"))
    }

    #[test]
    fn negative_terms_change_sides_and_negations_disappear() {
        for (written, expected) in [
            ("x + -1 * y <= 0", "x <= y"),
            ("!(1 <= x - y)", "x <= y"),
            ("1 + y <= x", "x > y"),
            ("0 <= x", "x >= 0"),
            ("x - 2 * y + 3 == 0", "x + 3 = 2 * y"),
            ("!(x == y) & (b | x < 3) | !b", "x != y & (b | x < 3) | !b"),
            ("b => x > 0 => y > 0", "b => x > 0 => y > 0"),
        ] {
            assert_eq!(shown(written), expected, "{written}");
        }
    }

    #[test]
    fn machine_integers_are_written_as_in_c() {
        let (written, expected) = (
            [
                "u8.le(u8.add(u8.mul(2:u8, x), 3:u8), y)",
                "!i8.lt(u8.i8(x), -3:i8)",
                "u8.mul(u8.add(x, y), u8.sub(x, y)) = u8.and(x, 1:u8)",
                "u8.le(x, y)",
            ],
            ["2 * x + 3 <= y", "(i8) x >= -3", "(x + y) * (x - y) = (x & 1)", "x <= y"],
        );
        let text = "shared x: u8, y: u8\nproc f() from L0 to L1\nL0 -> L1: return\nstart f";
        let program = text::parse(text).expect("the program is well-formed");
        let map = selvedge_ir::span::SourceMap::default();
        let source = Source::new("t.ir", text);
        let context = Context { program: &program, map: &map, source: &source };
        let shown = written
            .map(|text| condition(context, &text::parse_expr(&program, text).expect("the condition is well-formed")));
        assert_eq!(shown, expected);
    }

    #[test]
    fn program_counters_have_names() {
        for (written, expected) in [
            ("p at critical", "p at critical"),
            ("!(p at idle)", "!(p at idle)"),
            ("!(p at critical) | b", "!(p at critical) | b"),
        ] {
            assert_eq!(shown(written), expected, "{written}");
        }
    }
}
