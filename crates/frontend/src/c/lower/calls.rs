//! Calls of functions of the program and of the library.

use selvedge_ir::{BinaryOp as IrOp, Call, Expr as Ir, MachineTy, Op, VarId};

use super::super::files::Loc;
use super::super::tree::{Callee, CastKind, Definition, Expr, ExprKind, FunctionId};
use super::super::types::{FunctionType, QualType};
use super::body::Body;
use super::expr::INT;
use super::facts::is_atomic;
use super::place::{cast, direct};
use super::{Lowered, refuse};

/// Functions that say that an error is reached.
const FAILURES: &[&str] =
    &["reach_error", "__VERIFIER_error", "__selvedge_assert_fail", "__assert_fail", "__assert_rtn", "__assert"];

/// Functions that end the program.
const ENDS: &[&str] = &["exit", "abort", "_exit", "_Exit", "quick_exit"];

/// Functions whose arguments are evaluated and nothing else.
const OUTPUT: &[&str] =
    &["printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc", "fflush", "perror", "vprintf", "write"];

/// Functions that take time.
const DELAYS: &[&str] = &["sleep", "usleep", "nanosleep", "sched_yield", "pthread_yield", "thrd_yield"];

/// Functions whose results are any value.
const INPUT: &[&str] = &["rand", "random", "time", "clock", "lrand48"];

/// Hints for other tools.
const HINTS: &[&str] = &["__CPROVER_predicate", "__CPROVER_parameter_predicates", "__CPROVER_return_predicates"];

impl Body<'_, '_> {
    /// Returns whether an expression says that an error is reached.
    pub(super) fn is_failure(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Cast { kind: CastKind::Void, value, .. } => self.is_failure(value),
            ExprKind::Call { callee: Callee::Direct(function), .. } => self.fails(*function),
            _ => false,
        }
    }

    /// Returns whether a call of a function is an error: it says so by its name, and other names have no body.
    fn fails(&self, function: FunctionId) -> bool {
        let name = self.name(function);
        let has_body = self.unit.functions[function].body.is_some();
        FAILURES.contains(&name) && (!has_body || matches!(name, "reach_error" | "__VERIFIER_error"))
    }

    fn name(&self, function: FunctionId) -> &'static str {
        // Names of the library are compared only; others are not needed.
        let name = self.unit.name(self.unit.functions[function].name);
        let known = [FAILURES, ENDS, OUTPUT, DELAYS, INPUT, HINTS];
        known.iter().flat_map(|names| names.iter()).find(|known| **known == name).copied().unwrap_or("")
    }

    /// Evaluates a call; `None` if it has no value.
    pub(super) fn call(&mut self, expr: &Expr, callee: &Callee, args: &[Expr]) -> Lowered<Option<Ir>> {
        match callee {
            Callee::Direct(function) if self.fails(*function) => {
                self.site = Some(self.before(expr));
                self.step(Op::Assert(Ir::FALSE));
                self.stop();
                Ok(None)
            }
            Callee::Direct(function) if self.unit.functions[*function].body.is_some() => {
                let result = self.result_variable(expr)?;
                let values = self.passed(args)?;
                self.at_call(expr, args, |body| body.enter(*function, result, &values, expr.loc))?;
                Ok(result.map(Ir::Var))
            }
            Callee::Direct(function) => self.at_call(expr, args, |body| body.library(*function, args, expr)),
            Callee::Indirect(pointer) => self.indirect(pointer, args, expr),
        }
    }

    /// Returns a variable for the result of a call; `None` if there is none.
    pub(super) fn result_variable(&mut self, expr: &Expr) -> Lowered<Option<VarId>> {
        if self.unit.types.is_void(expr.ty) {
            return Ok(None);
        }
        let ty = self.scalar(expr.ty, expr.loc)?;
        Ok(Some(self.temporary(ty)))
    }

    /// Evaluates arguments; returns them with their types.
    fn passed(&mut self, args: &[Expr]) -> Lowered<Vec<(Ir, MachineTy)>> {
        let values = self.values(&args.iter().collect::<Vec<_>>())?;
        let typed = args.iter().zip(values).map(|(arg, value)| Ok((value, self.scalar(arg.ty, arg.loc)?)));
        typed.collect()
    }

    /// Calls a function of the program.
    fn enter(
        &mut self,
        function: FunctionId,
        result: Option<VarId>,
        args: &[(Ir, MachineTy)],
        loc: Loc,
    ) -> Lowered<()> {
        let unit = self.unit;
        let params = unit.functions[function].body.as_ref().map_or(&[][..], |body| &body.params);
        if params.len() != args.len() {
            return refuse("a call with another number of arguments is", loc);
        }
        let mut converted = Vec::new();
        for (param, (value, from)) in params.iter().zip(args) {
            converted.push(cast(value.clone(), *from, self.scalar(unit.objects[*param].ty, loc)?));
        }
        let is_section = is_atomic(unit, function);
        if is_section && (self.low.facts.sections || self.low.facts.nested) {
            return refuse("an atomic function beside other atomic sections is", loc);
        }
        if is_section {
            self.step(Op::AtomicBegin);
        }
        let results = result.into_iter().map(Some).collect();
        self.step(Op::Call(Call { results, callee: self.low.procs[&function], args: converted }));
        if is_section {
            self.step(Op::AtomicEnd);
        }
        Ok(())
    }

    /// Calls through a pointer: one branch for each function of the type whose address is taken.
    fn indirect(&mut self, pointer: &Expr, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this call is", expr.loc) };
        let result = self.result_variable(expr)?;
        let ty = self.low.pointer_ty();
        let address = self.value(pointer)?;
        let address = self.save(address, ty);
        let values = self.passed(args)?;
        let (start, end) = (self.at, self.new_loc());
        for function in self.low.facts.taken_functions.clone() {
            let declared = &self.unit.functions[function];
            if declared.body.is_none() || !self.is_callable(declared.ty, of, expr.loc)? {
                continue;
            }
            self.at = start;
            let is = ty.constant(i128::from(self.low.function_address(function)));
            self.step(Op::assume(Ir::binary(IrOp::Eq, address.clone(), is)));
            self.enter(function, result, &values, expr.loc)?;
            self.jump(end);
        }
        self.at = end;
        Ok(result.map(Ir::Var))
    }

    /// Returns whether a function may be called through a pointer. Types that are neither the same nor clearly
    /// different are refused.
    fn is_callable(&self, function: QualType, pointer: QualType, loc: Loc) -> Lowered<bool> {
        let types = &self.unit.types;
        let (Some(one), Some(other)) = (types.function(function), types.function(pointer)) else {
            return refuse("this call is", loc);
        };
        let ids = |ty: &FunctionType| -> Vec<_> { ty.params.iter().chain([&ty.result]).map(|ty| ty.id).collect() };
        match one.prototyped && other.prototyped {
            true if ids(one) == ids(other) => Ok(true),
            true if one.params.len() != other.params.len() => Ok(false),
            _ => refuse("a call through a pointer beside functions of another type is", loc),
        }
    }

    fn library(&mut self, function: FunctionId, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let unit = self.unit;
        let name = unit.name(unit.functions[function].name);
        match (name, args) {
            ("assert" | "__VERIFIER_assert" | "__CPROVER_assert", [condition, ..]) => {
                self.assert(condition).map(|()| None)
            }
            ("__VERIFIER_assume" | "__CPROVER_assume" | "assume_abort_if_not", [condition]) => {
                let (holds, fails) = (self.new_loc(), self.new_loc());
                self.branch(condition, holds, fails)?;
                self.at = holds;
                Ok(None)
            }
            ("__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin", _) => {
                self.step(Op::AtomicBegin);
                Ok(None)
            }
            ("__VERIFIER_atomic_end" | "__CPROVER_atomic_end", _) => {
                self.step(Op::AtomicEnd);
                Ok(None)
            }
            (name, []) if name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") => {
                if unit.types.is_pointer(expr.ty) {
                    return refuse("any pointer is", expr.loc);
                }
                let ty = self.scalar(expr.ty, expr.loc)?;
                Ok(Some(self.input(name, ty)))
            }
            (name, _) if ENDS.contains(&name) => {
                self.arguments(args)?;
                self.stop();
                Ok(None)
            }
            (name, _) if OUTPUT.contains(&name) || INPUT.contains(&name) => {
                self.arguments(args)?;
                if INPUT.contains(&name) && args.iter().any(|arg| unit.integer(arg).is_none() && !is_null(arg)) {
                    return refuse(format!("this use of `{name}` is"), expr.loc);
                }
                let ty = self.scalar(expr.ty, expr.loc)?;
                Ok(Some(if INPUT.contains(&name) { self.input(name, ty) } else { self.any_value(ty) }))
            }
            (name, _) if DELAYS.contains(&name) || HINTS.contains(&name) => {
                if DELAYS.contains(&name) {
                    self.arguments(args)?;
                }
                Ok(Some(INT.constant(0)))
            }
            _ => {
                let first = self.low.program.edges.len_idx();
                let result = self.threads_library(name, args, expr);
                self.low.view_locks(name, first);
                result
            }
        }
    }

    /// Evaluates arguments that nothing is done with. What they point to is not read.
    fn arguments(&mut self, args: &[Expr]) -> Lowered<()> {
        for arg in args {
            if !self.is_skipped(arg) {
                self.effects(arg)?;
            }
        }
        Ok(())
    }

    /// Returns whether an argument is a string, the address of an object, or an object of the library.
    fn is_skipped(&self, arg: &Expr) -> bool {
        match &arg.kind {
            ExprKind::Cast { value, .. } => self.is_skipped(value),
            ExprKind::Load(place) => match place.kind {
                ExprKind::Object(object) => self.unit.objects[object].definition == Definition::Declared,
                _ => false,
            },
            _ => matches!(direct(arg), Some((Expr { kind: ExprKind::String(_) | ExprKind::Object(_), .. }, None))),
        }
    }

    /// Returns 0 as the result of a function of the library.
    pub(super) fn success(&self) -> Lowered<Option<Ir>> {
        Ok(Some(INT.constant(0)))
    }

    /// Returns one of two results of a function of the library: the second where a bit is set.
    pub(super) fn either(&mut self, first: i128, second: i128) -> Ir {
        let bit = self.any_value(MachineTy::unsigned(1));
        let is_set = Ir::binary(IrOp::Ne, bit, MachineTy::unsigned(1).constant(0));
        Ir::Ite(Box::new((is_set, INT.constant(second), INT.constant(first))))
    }
}

/// Returns whether an expression is a null pointer.
pub(super) fn is_null(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Integer(0) => true,
        ExprKind::Cast { value, .. } => is_null(value),
        _ => false,
    }
}
