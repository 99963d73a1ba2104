//! What the solver says about the relations, as a certificate about views over bits.
//!
//! The relations speak of the program whose calls are replaced by bodies. The program over bits has the same procedures
//! and steps, so that the same calls are replaced by the same bodies there, and a copy of a variable in the one has its
//! bits in the other.

use std::collections::HashMap;

use index_vec::IndexVec;
use selvedge_check::formula::{Atom, FormulaId, Node};
use selvedge_check::{BitProof, Certificate, Place, Run, Seen, Shape, ShapeProof, Stop};
use selvedge_ir::bits::{Code, Rest};
use selvedge_ir::passes::blast::{self, Blasted};
use selvedge_ir::passes::{Copies, Passed, inline};
use selvedge_ir::{BinaryOp, EdgeId, Expr, Program, Target, Ty, UnaryOp, VarId};
use selvedge_logic::smt::Sexp;
use selvedge_transition::bitvectors::read;
use selvedge_transition::formula_writer::FormulaWriter;
use selvedge_transition::thread_proof;

use super::clauses::{Key, System};

/// A program over bits, with its calls replaced.
pub(super) struct Bits {
    /// The program over bits; `None` if there are no numbers.
    blasted: Option<Blasted>,
    copies: Copies,
    /// For each variable of the program without calls, its bits in the one over bits without calls.
    codes: IndexVec<VarId, Code>,
}

impl Bits {
    /// Returns the program over bits; `None` if it would be too large.
    pub(super) fn new(program: &Program, inlined: &Passed) -> Option<Bits> {
        let blasted = match program.has_machine_integers() {
            true => Some(blast::run(program).ok()?),
            false => None,
        };
        let bits = blasted.as_ref().map_or(program, |blasted| &blasted.program);
        let copies = inline::run(bits, &Target::default()).lift.copies?;
        let of_numbers = inlined.lift.copies.as_ref()?;
        let calls = |copies: &Copies, number: u32| -> Vec<EdgeId> { copies.calls[number as usize].clone() };
        let known: HashMap<(Vec<EdgeId>, VarId), VarId> = copies
            .vars
            .iter_enumerated()
            .map(|(copy, (number, var))| ((calls(&copies, *number), *var), copy))
            .collect();
        let code = |(number, var): &(u32, VarId)| -> Option<Code> {
            let below = calls(of_numbers, *number);
            let of = |var: &VarId| known.get(&(below.clone(), *var)).copied();
            Some(match &blasted {
                Some(blasted) => {
                    let code = &blasted.lift.map.vars[*var];
                    Code { bits: code.bits.iter().map(of).collect::<Option<_>>()?, ..code.clone() }
                }
                None => Code { ty: Ty::Bool, bits: vec![of(var)?], rest: Rest::Constant(0) },
            })
        };
        let codes = of_numbers.vars.iter().map(code).collect::<Option<_>>()?;
        Some(Bits { blasted, copies, codes })
    }

    /// Returns the certificate; `None` if what the solver says is not understood, or too large.
    pub(super) fn certificate(
        &self,
        system: &System<'_>,
        model: &Sexp,
        run: &Run<'_>,
    ) -> Result<Option<Certificate>, Stop> {
        let (mut writer, mut shapes) = (FormulaWriter::default(), Vec::new());
        for (number, (key, _)) in system.keys.iter().enumerate().filter(|(_, (_, is_reached))| **is_reached) {
            run.tick()?;
            let leaves = system.leaves(key);
            let Some(formula) = read::definition(model, &format!("P{number}"), system.program, &leaves) else {
                return Ok(None);
            };
            let condition = blast::condition(&self.codes, &formula);
            let mut atoms = Atoms { bits: self, system, key, writer: &mut writer, parts: Vec::new() };
            let formula = atoms.formula(&condition);
            shapes.push(Shape::of_some(key.threads.clone(), key.held, formula));
            if writer.is_too_large() {
                return Ok(None);
            }
        }
        let place = |(number, place): (u32, &selvedge_transition::macro_step::place::Place)| Place {
            role: place.role,
            calls: Vec::new(),
            loc: place.loc,
            vars: self.own(system, number).map(|bit| (0, bit)).collect(),
        };
        let places = (0..).zip(&system.places).map(place).collect();
        let mut proof = ShapeProof { seen: Seen::Any(system.k as u32), formulas: writer.formulas, places, shapes };
        proof.sort();
        let Some(proof) = thread_proof::lifted(&proof, &self.copies) else { return Ok(None) };
        Ok(Some(match &self.blasted {
            None => Certificate::Shapes(proof),
            Some(blasted) => Certificate::OverBits(Box::new(BitProof {
                program: blasted.program.clone(),
                map: blasted.lift.map.clone(),
                certificate: Certificate::Shapes(proof),
            })),
        }))
    }

    /// Returns the bits of a thread that formulas may speak of at a place.
    fn own<'s>(&'s self, system: &'s System<'_>, place: u32) -> impl Iterator<Item = VarId> + 's {
        system.own(place).iter().flat_map(|var| self.codes[*var].bits.iter().copied())
    }
}

/// Writes a condition over bits as a formula about threads.
struct Atoms<'a> {
    bits: &'a Bits,
    system: &'a System<'a>,
    key: &'a Key,
    writer: &'a mut FormulaWriter,
    /// The parts that are known, the innermost last.
    parts: Vec<(u32, FormulaId)>,
}

impl Atoms<'_> {
    fn formula(&mut self, expr: &Expr) -> FormulaId {
        match expr {
            Expr::Bool(value) => self.writer.node(Node::Const(*value)),
            Expr::Var(bit) => self.atom(0, *bit),
            Expr::Passive(bit) => self.atom(1, *bit),
            Expr::Unary(UnaryOp::Not, operand) => {
                let operand = self.formula(operand);
                self.writer.node(Node::Not(operand))
            }
            Expr::Binary(op, pair) => {
                let (left, right) = (self.formula(&pair.0), self.formula(&pair.1));
                self.binary(*op, left, right)
            }
            Expr::Ite(triple) => {
                let [condition, then, otherwise] =
                    [&triple.0, &triple.1, &triple.2].map(|operand| self.formula(operand));
                self.writer.node(Node::Ite(condition, then, otherwise))
            }
            Expr::Let(shared) => {
                let known = self.parts.len();
                for (number, part) in &shared.parts {
                    let part = self.formula(part);
                    self.parts.push((*number, part));
                }
                let body = self.formula(&shared.body);
                self.parts.truncate(known);
                body
            }
            Expr::Part(number) => {
                let known = self.parts.iter().rfind(|(known, _)| known == number);
                known.expect("parts are used where they are known").1
            }
            _ => unreachable!("conditions over bits have nothing else"),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: FormulaId, right: FormulaId) -> FormulaId {
        let mut not = |operand: FormulaId| self.writer.node(Node::Not(operand));
        match op {
            BinaryOp::And => self.writer.node(Node::And(left, right)),
            BinaryOp::Or => self.writer.node(Node::Or(left, right)),
            BinaryOp::Implies => {
                let not_left = not(left);
                self.writer.node(Node::Or(not_left, right))
            }
            BinaryOp::Eq => {
                let not_right = not(right);
                self.writer.node(Node::Ite(left, right, not_right))
            }
            BinaryOp::Ne | BinaryOp::Xor => {
                let not_right = not(right);
                self.writer.node(Node::Ite(left, not_right, right))
            }
            _ => unreachable!("conditions over bits have nothing else"),
        }
    }

    fn atom(&mut self, thread: u32, bit: VarId) -> FormulaId {
        let place = self.key.threads[thread as usize];
        let number = self.bits.own(self.system, place).position(|own| own == bit);
        // What is no variable of the thread is shared.
        self.writer.node(Node::Atom(match number {
            Some(var) => Atom::Of { thread, var: var as u32 },
            None => Atom::Now(bit),
        }))
    }
}
