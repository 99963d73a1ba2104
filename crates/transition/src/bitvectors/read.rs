//! Reads what the solver prints about relations over bit vectors.
//!
//! A term of `n` bits becomes an expression of the unsigned type of `n` bits, whose operators read it with sign where
//! the solver does. Terms of more than 64 bits, and operators that are not known, are not understood.

use std::collections::BTreeMap;

use selvedge_ir::{BinaryOp, Expr, MachineOp, MachineTy, Program, Ty, UnaryOp};
use selvedge_logic::smt::Sexp;

/// The most parts that a formula may have: shared parts are written out.
const MOST_PARTS: usize = 200_000;

/// Returns the definition of a relation in `((define-fun P ((x (_ BitVec 8))) Bool body) ..)`, over these leaves.
pub fn definition(model: &Sexp, relation: &str, program: &Program, args: &[Expr]) -> Option<Expr> {
    let (params, body) = model.list()?.iter().find_map(|defined| match defined.list()? {
        [Sexp::Atom(word), Sexp::Atom(name), Sexp::List(params), _, body]
            if word == "define-fun" && name == relation =>
        {
            Some((params, body))
        }
        _ => None,
    })?;
    let mut names = BTreeMap::new();
    for (param, arg) in params.iter().zip(args) {
        let value = match program.vars[arg.var()?].ty {
            Ty::Bool => Reading::Truth(arg.clone()),
            Ty::Machine(ty) => Reading::bits(ty.bits, cast(ty, MachineTy::unsigned(ty.bits), arg.clone())),
            Ty::Int => return None,
        };
        names.insert(param.list()?.first()?.atom()?.to_string(), (value, 1));
    }
    let reader = Reader { names };
    let fits = params.len() == args.len();
    reader.read(body).filter(|_| fits)?.0.truth()
}

/// A term as an expression.
#[derive(Clone)]
enum Reading {
    Truth(Expr),
    /// A number of the unsigned type of this width.
    Bits(u8, Expr),
}

impl Reading {
    fn bits(bits: u8, expr: Expr) -> Reading {
        Reading::Bits(bits, expr)
    }

    fn truth(self) -> Option<Expr> {
        if let Reading::Truth(expr) = self { Some(expr) } else { None }
    }
}

/// Returns a conversion of numbers, if it changes anything.
fn cast(from: MachineTy, to: MachineTy, operand: Expr) -> Expr {
    if from == to { operand } else { Expr::Unary(UnaryOp::Cast(from, to), Box::new(operand)) }
}

/// The meaning of words, each with the number of parts that it has.
struct Reader {
    names: BTreeMap<String, (Reading, usize)>,
}

impl Reader {
    /// Returns a term and the number of its parts.
    fn read(&self, term: &Sexp) -> Option<(Reading, usize)> {
        let (head, operands) = match term {
            Sexp::Atom(word) => return self.names.get(word).cloned().or_else(|| Some((constant(word)?, 1))),
            Sexp::List(parts) => parts.split_first()?,
        };
        match (head, operands) {
            (Sexp::Atom(word), [Sexp::List(bindings), body]) if word == "let" => self.within(bindings, body),
            (Sexp::Atom(word), [number, width]) if word == "_" => {
                let bits = number.atom()?.strip_prefix("bv")?.parse().ok()?;
                Some((number_of(bits, width.atom()?.parse().ok()?)?, 1))
            }
            _ => {
                let operands: Vec<(Reading, usize)> =
                    operands.iter().map(|part| self.read(part)).collect::<Option<_>>()?;
                let parts = 1 + operands.iter().map(|(_, parts)| parts).sum::<usize>();
                let operands: Vec<Reading> = operands.into_iter().map(|(reading, _)| reading).collect();
                let reading = match head {
                    Sexp::Atom(operator) => applied(operator, operands),
                    Sexp::List(indexed) => indexed_by(indexed, operands),
                }?;
                (parts <= MOST_PARTS).then_some((reading, parts))
            }
        }
    }

    /// Reads a `let`, whose names are all bound at once.
    fn within(&self, bindings: &[Sexp], body: &Sexp) -> Option<(Reading, usize)> {
        let mut names = self.names.clone();
        for binding in bindings {
            let [Sexp::Atom(name), value] = binding.list()? else { return None };
            names.insert(name.clone(), self.read(value)?);
        }
        Reader { names }.read(body)
    }
}

fn constant(word: &str) -> Option<Reading> {
    match word {
        "true" => Some(Reading::Truth(Expr::TRUE)),
        "false" => Some(Reading::Truth(Expr::FALSE)),
        _ => {
            let (digits, radix, width) = match (word.strip_prefix("#x"), word.strip_prefix("#b")) {
                (Some(digits), _) => (digits, 16, 4),
                (None, Some(digits)) => (digits, 2, 1),
                (None, None) => return None,
            };
            number_of(u64::from_str_radix(digits, radix).ok()?, digits.len().checked_mul(width)?)
        }
    }
}

fn number_of(bits: u64, width: usize) -> Option<Reading> {
    let width = u8::try_from(width).ok()?;
    let ty = MachineTy::unsigned(width);
    (ty.exists() && bits <= ty.mask()).then_some(Reading::Bits(width, Expr::Machine(ty, bits)))
}

/// Reads an operator with its operands.
fn applied(operator: &str, operands: Vec<Reading>) -> Option<Reading> {
    match (operator, operands.as_slice()) {
        ("=", [left, right]) => Some(Reading::Truth(equal(left, right)?)),
        ("distinct", [left, right]) => Some(Reading::Truth(Expr::negate(equal(left, right)?))),
        ("ite", [Reading::Truth(condition), Reading::Truth(then), Reading::Truth(otherwise)]) => {
            Some(Reading::Truth(ite(condition, then, otherwise)))
        }
        ("ite", [Reading::Truth(condition), Reading::Bits(width, then), Reading::Bits(other, otherwise)]) => {
            (width == other).then(|| Reading::Bits(*width, ite(condition, then, otherwise)))
        }
        ("concat", [Reading::Bits(..), ..]) => {
            operands.into_iter().map(Some).reduce(|high, low| joined(high?, low?))?
        }
        (_, [Reading::Bits(..), ..]) => {
            let number = |operand| match operand {
                Reading::Bits(width, expr) => Some((width, expr)),
                Reading::Truth(_) => None,
            };
            on_bits(operator, operands.into_iter().map(number).collect::<Option<_>>()?)
        }
        _ => connected(operator, operands.into_iter().map(Reading::truth).collect::<Option<_>>()?),
    }
}

fn ite(condition: &Expr, then: &Expr, otherwise: &Expr) -> Expr {
    Expr::Ite(Box::new((condition.clone(), then.clone(), otherwise.clone())))
}

fn equal(left: &Reading, right: &Reading) -> Option<Expr> {
    let (left, right) = match (left, right) {
        (Reading::Truth(left), Reading::Truth(right)) => (left, right),
        (Reading::Bits(width, left), Reading::Bits(other, right)) if width == other => (left, right),
        _ => return None,
    };
    Some(Expr::binary(BinaryOp::Eq, left.clone(), right.clone()))
}

/// Reads an operator on truth values.
fn connected(operator: &str, mut operands: Vec<Expr>) -> Option<Reading> {
    let expr = match (operator, operands.len()) {
        ("not", 1) => Expr::negate(operands.remove(0)),
        ("and", _) => Expr::balanced(BinaryOp::And, operands).unwrap_or(Expr::TRUE),
        ("or", _) => Expr::balanced(BinaryOp::Or, operands).unwrap_or(Expr::FALSE),
        ("xor", 2) => Expr::binary(BinaryOp::Xor, operands.remove(0), operands.remove(0)),
        ("=>", 2) => Expr::binary(BinaryOp::Implies, operands.remove(0), operands.remove(0)),
        _ => return None,
    };
    Some(Reading::Truth(expr))
}

/// Reads an operator on numbers.
fn on_bits(operator: &str, mut operands: Vec<(u8, Expr)>) -> Option<Reading> {
    let width = operands.first()?.0;
    if operands.iter().any(|(other, _)| *other != width) {
        return None;
    }
    let plain = MachineTy::unsigned(width);
    if let ([(_, operand)], "bvnot" | "bvneg") = (operands.as_slice(), operator) {
        let operand = operand.clone();
        let expr = if operator == "bvnot" { plain.complement(operand) } else { plain.negated(operand) };
        return Some(Reading::Bits(width, expr));
    }
    let (op, signed, turned) = number_operator(operator)?;
    let is_chain = matches!(op, MachineOp::Add | MachineOp::Mul | MachineOp::And | MachineOp::Or | MachineOp::Xor);
    if operands.len() < 2 || operands.len() > 2 && !is_chain {
        return None;
    }
    if turned {
        operands.reverse();
    }
    let ty = MachineTy { signed, ..plain };
    let apply = |left: Expr, right: Expr| {
        let result = ty.apply(op, cast(plain, ty, left), cast(plain, ty, right));
        if op.compares() { result } else { cast(ty, plain, result) }
    };
    let expr = operands.into_iter().map(|(_, operand)| operand).reduce(apply)?;
    Some(if op.compares() { Reading::Truth(expr) } else { Reading::Bits(width, expr) })
}

/// Returns the operator with this name, whether it reads signs, and whether its operands change places.
fn number_operator(name: &str) -> Option<(MachineOp, bool, bool)> {
    Some(match name {
        "bvadd" => (MachineOp::Add, false, false),
        "bvsub" => (MachineOp::Sub, false, false),
        "bvmul" => (MachineOp::Mul, false, false),
        "bvand" => (MachineOp::And, false, false),
        "bvor" => (MachineOp::Or, false, false),
        "bvxor" => (MachineOp::Xor, false, false),
        "bvshl" => (MachineOp::Shl, false, false),
        "bvlshr" => (MachineOp::Shr, false, false),
        "bvashr" => (MachineOp::Shr, true, false),
        "bvudiv" | "bvudiv_i" => (MachineOp::Div, false, false),
        "bvurem" | "bvurem_i" => (MachineOp::Rem, false, false),
        "bvsdiv" | "bvsdiv_i" => (MachineOp::Div, true, false),
        "bvsrem" | "bvsrem_i" => (MachineOp::Rem, true, false),
        "bvult" => (MachineOp::Lt, false, false),
        "bvule" => (MachineOp::Le, false, false),
        "bvugt" => (MachineOp::Lt, false, true),
        "bvuge" => (MachineOp::Le, false, true),
        "bvslt" => (MachineOp::Lt, true, false),
        "bvsle" => (MachineOp::Le, true, false),
        "bvsgt" => (MachineOp::Lt, true, true),
        "bvsge" => (MachineOp::Le, true, true),
        _ => return None,
    })
}

/// Reads `(_ extract 7 0)` and its like, with the operand.
fn indexed_by(operator: &[Sexp], mut operands: Vec<Reading>) -> Option<Reading> {
    let [Sexp::Atom(mark), Sexp::Atom(word), indices @ ..] = operator else { return None };
    let indices: Vec<u8> = indices.iter().map(|index| index.atom()?.parse().ok()).collect::<Option<_>>()?;
    let (Some(Reading::Bits(width, operand)), true, "_") = (operands.pop(), operands.is_empty(), mark.as_str()) else {
        return None;
    };
    let ty = MachineTy::unsigned(width);
    let (to, expr) = match (word.as_str(), indices.as_slice()) {
        ("extract", [high, low]) if low <= high && *high < width => {
            let shifted = match low {
                0 => operand,
                low => ty.apply(MachineOp::Shr, operand, ty.constant(i128::from(*low))),
            };
            let to = MachineTy::unsigned(high - low + 1);
            (to, cast(ty, to, shifted))
        }
        ("zero_extend", [more]) => {
            let to = MachineTy::unsigned(width.checked_add(*more)?);
            (to, cast(ty, to, operand))
        }
        ("sign_extend", [more]) => {
            let to = MachineTy::unsigned(width.checked_add(*more)?);
            (to, cast(MachineTy::signed(width), to, cast(ty, MachineTy::signed(width), operand)))
        }
        _ => return None,
    };
    to.exists().then_some(Reading::Bits(to.bits, expr))
}

/// Puts the bits of two numbers side by side.
fn joined(high: Reading, low: Reading) -> Option<Reading> {
    let (Reading::Bits(above, high), Reading::Bits(below, low)) = (high, low) else { return None };
    let all = MachineTy::unsigned(above.checked_add(below)?);
    all.exists().then_some(())?;
    let high = cast(MachineTy::unsigned(above), all, high);
    let high = all.apply(MachineOp::Shl, high, all.constant(i128::from(below)));
    let low = cast(MachineTy::unsigned(below), all, low);
    Some(Reading::Bits(all.bits, all.apply(MachineOp::Or, high, low)))
}

#[cfg(test)]
mod tests {
    use selvedge_ir::text::{self, parse};

    use super::*;

    /// Reads a condition on `x: u8`, `y: i16` and `b: bool`.
    fn read(text: &str) -> Option<String> {
        let program = "shared x: u8, y: i16, b: bool\nproc main() from L0 to L1\nL0 -> L1: return\nstart main";
        let program = parse(program).expect("the program is well-formed");
        let vars: Vec<Expr> = program.vars.indices().map(Expr::Var).collect();
        let params = "((x (_ BitVec 8)) (y (_ BitVec 16)) (b Bool))";
        let model = Sexp::parse_all(&format!("((define-fun Q () Bool false) (define-fun P {params} Bool {text}))"));
        let formula = definition(&model.expect("it is balanced")[0], "P", &program, &vars)?;
        Some(text::expr(&program, &formula))
    }

    #[test]
    fn operators_read_signs_where_the_solver_does() {
        assert_eq!(read("(bvule x #x0a)").as_deref(), Some("u8.le(x, 10:u8)"));
        let signed = "i16.lt(u16.i16(65535:u16), u16.i16(i16.u16(y)))";
        assert_eq!(read("(bvsgt y #xffff)").as_deref(), Some(signed));
        assert_eq!(read("(or b (= x #b00000001))"), read("(let ((a (= x #x01))) (or b a))"));
        assert!(read("(or b (= x #b00000001))").is_some());
    }

    #[test]
    fn parts_of_numbers_are_shifted_and_cut_off() {
        assert_eq!(read("(= ((_ extract 3 1) x) #b101)").as_deref(), Some("u8.u3(u8.shr(x, 1:u8)) = 5:u3"));
        let joined = "u16.or(u16.shl(u8.u16(0:u8), 8:u16), u8.u16(x)) = i16.u16(y)";
        assert_eq!(read("(= (concat #x00 x) y)").as_deref(), Some(joined));
        assert_eq!(read("(let ((a ((_ zero_extend 8) x))) (= a y))").as_deref(), Some("u8.u16(x) = i16.u16(y)"));
    }

    #[test]
    fn what_is_not_known_or_ill_typed_is_refused() {
        for text in [
            "(exists ((z Bool)) z)",
            "(bvule x y)",
            "(= x b)",
            "(= (concat x #x00000000000000000) x)",
            "(= ((_ extract 8 0) x) #b000000000)",
            "(bvule x)",
            "x",
            "z",
            "(bvfoo x x)",
            "(bvule x #x0a #x0b)",
            "(_ bv300 8)",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
