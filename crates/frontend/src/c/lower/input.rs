//! What a program gets from outside: the arguments of `main`, streams, and `scanf` with its like.

use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy, Op};

use super::super::files::Loc;
use super::super::tree::{Definition, Expr, ExprKind, FunctionId, ObjectId, Storage, Unit};
use super::body::Body;
use super::expr::INT;
use super::place::{Access, direct};
use super::syntax::uncast;
use super::{Lowered, Lowering, refuse};

/// The streams of the library, which are pointers to objects that the program does not have.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Returns whether an object is a stream of the library.
pub(super) fn is_stream(unit: &Unit, object: ObjectId) -> bool {
    let declared = &unit.objects[object];
    let is_elsewhere = declared.definition == Definition::Declared && declared.storage == Storage::Static;
    is_elsewhere && unit.types.is_pointer(declared.ty) && STREAMS.contains(&unit.name(declared.name))
}

impl Lowering<'_> {
    /// Returns the address of what is outside of the program.
    pub(super) fn outside(&mut self) -> u64 {
        match self.addresses.outside {
            Some(address) => address,
            None => {
                let address = self.addresses.reserve(1);
                self.addresses.outside = Some(address);
                address
            }
        }
    }

    /// Gives what is outside of the program an address, if the program may use one.
    pub(super) fn declare_outside(&mut self) {
        let is_used = |object: &ObjectId| is_stream(self.unit, *object) || self.is_argument(*object);
        if self.facts.read.iter().any(is_used) {
            self.outside();
        }
    }

    fn is_argument(&self, object: ObjectId) -> bool {
        let declared = &self.unit.objects[object];
        let is_main = |function: FunctionId| self.unit.name(self.unit.functions[function].name) == "main";
        declared.storage == Storage::Param && declared.function.is_some_and(is_main)
    }
}

impl Body<'_, '_> {
    /// Gives an argument of `main` its value, if the program uses it: a number that is not negative, or a pointer to
    /// what is outside of the program.
    pub(super) fn argument_of_main(&mut self, param: ObjectId) -> Lowered<()> {
        if !self.low.facts.read.contains(&param) {
            return Ok(());
        }
        let declared = &self.unit.objects[param];
        let (ty, loc) = (self.scalar(declared.ty, declared.loc)?, declared.loc);
        let [cell] = self.low.cells(param, loc)?[..] else { return refuse("this argument of `main` is", loc) };
        self.begin_life(param);
        if self.unit.types.is_pointer(declared.ty) {
            let outside = ty.constant(i128::from(self.low.outside()));
            self.step(Op::set(vec![(cell.var, outside)]));
            return Ok(());
        }
        let value = self.any_value(ty);
        self.require(ty.apply(MachineOp::Le, ty.constant(0), value.clone()));
        self.step(Op::set(vec![(cell.var, value)]));
        Ok(())
    }

    /// Evaluates `scanf` and the like: any number of the objects get any values, from the first one on.
    pub(super) fn scan(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let first = if name == "scanf" { 0 } else { 1 };
        let Some((format, targets)) = args.get(first..).and_then(<[Expr]>::split_first) else {
            return refuse(format!("this use of `{name}` is"), expr.loc);
        };
        if self.conversions(format) != Some(targets.len()) {
            return refuse(format!("`{name}` with this format is"), format.loc);
        }
        self.arguments(&args[..first])?;
        let (count, end) = (self.temporary(INT), self.new_loc());
        let failed = self.either(0, -1);
        self.step(Op::set(vec![(count, failed)]));
        for (number, target) in targets.iter().enumerate() {
            let next = self.new_loc();
            let more = self.any_value(MachineTy::unsigned(1));
            self.fork(Ir::binary(IrOp::Ne, more, MachineTy::unsigned(1).constant(0)), next, end);
            self.at = next;
            let (access, ty) = self.scanned(target)?;
            let value = self.input(name, ty);
            self.store(&access, value, ty);
            self.step(Op::set(vec![(count, INT.constant(number as i128 + 1))]));
        }
        self.jump(end);
        self.at = end;
        Ok(Some(Ir::Var(count)))
    }

    fn scanned(&mut self, target: &Expr) -> Lowered<(Access, MachineTy)> {
        let target = uncast(target);
        let Some(of) = self.unit.types.pointee(target.ty).filter(|of| self.unit.types.is_integer(*of)) else {
            return refuse("an object of this type for `scanf` is", target.loc);
        };
        let place = self.target(target)?;
        self.typed_access(place, of, target)
    }

    /// Returns the number of objects that a format sets, if it has conversions to integers only.
    fn conversions(&self, format: &Expr) -> Option<usize> {
        let (Expr { kind: ExprKind::String(string), .. }, None) = direct(uncast(format))? else { return None };
        let units = &self.unit.strings[*string].units;
        let text: Vec<char> =
            units.iter().filter_map(|unit| char::from_u32(*unit)).take_while(|c| *c != '\0').collect();
        let (mut found, mut rest) = (0, text.into_iter());
        while let Some(c) = rest.next() {
            if c != '%' {
                continue;
            }
            let mut conversion = rest.next()?;
            while conversion.is_ascii_digit() || "hljzt".contains(conversion) {
                conversion = rest.next()?;
            }
            match conversion {
                '%' => {}
                'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' => found += 1,
                _ => return None,
            }
        }
        Some(found)
    }

    /// Refuses to move a pointer that may lead to what is outside of the program.
    pub(super) fn check_inside(&mut self, pointer: &Expr) -> Lowered<()> {
        let to = self.low.points.of(pointer);
        self.check_outside(&to, pointer.loc)
    }

    /// Refuses to move a pointer in an object in the same way.
    pub(super) fn check_held_inside(&mut self, target: &Expr) -> Lowered<()> {
        let to = self.low.points.held_by(target);
        self.check_outside(&to, target.loc)
    }

    /// Refuses to follow a pointer that may lead to what is outside of the program.
    pub(super) fn check_outside(&self, to: &super::points::Targets, loc: Loc) -> Lowered<()> {
        match to.contains(&super::points::Target::Outside) {
            true => refuse("following or moving a pointer to an argument of the program, or to a stream, is", loc),
            false => Ok(()),
        }
    }
}
