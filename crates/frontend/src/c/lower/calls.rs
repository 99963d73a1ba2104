//! Calls of functions of the program and of the library.

use selvedge_ir::{BinaryOp as IrOp, Call, Expr as Ir, MachineTy, Op, VarId};

use super::super::files::Loc;
use super::super::property::Property;
use super::super::tree::{Callee, CastKind, Definition, Expr, ExprKind, FunctionId};
use super::super::types::{FunctionType, QualType};
use super::body::Body;
use super::expr::{INT, has_effects, is_kept};
use super::place::{at_address, cast, direct};
use super::syntax::is_atomic;
use super::{Lowered, refuse};
use crate::Extern;

/// Functions that say that an error is reached.
const FAILURES: &[&str] =
    &["reach_error", "__VERIFIER_error", "__selvedge_assert_fail", "__assert_fail", "__assert_rtn", "__assert"];

/// Functions that end the program.
const ENDS: &[&str] = &["exit", "abort", "_exit", "_Exit", "quick_exit"];

/// Functions whose arguments are evaluated and nothing else.
const OUTPUT: &[&str] =
    &["printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc", "fflush", "perror", "vprintf", "write"];

/// Functions that take time.
const DELAYS: &[&str] = &["sleep", "usleep", "nanosleep", "sched_yield", "pthread_yield", "thrd_yield", "thrd_sleep"];

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
                if self.asks(Property::Assertions) {
                    self.step(Op::Assert(Ir::FALSE));
                }
                self.stop();
                Ok(None)
            }
            Callee::Direct(function) if self.unit.functions[*function].body.is_none() => {
                self.at_call(expr, args, |body| body.library(*function, args, expr))
            }
            _ => Ok(self.call_results(expr, callee, args)?.first().copied().map(Ir::Var)),
        }
    }

    /// Calls a function of the program; returns the variables with its result, one for each scalar part.
    pub(super) fn call_results(&mut self, expr: &Expr, callee: &Callee, args: &[Expr]) -> Lowered<Vec<VarId>> {
        match callee {
            Callee::Direct(function) => {
                if self.unit.functions[*function].body.is_none() {
                    return refuse("this function, which has no body, is", expr.loc);
                }
                let results = self.result_variables(expr.ty, expr.loc)?;
                let values = self.passed(&args.iter().collect::<Vec<_>>())?;
                self.at_call(expr, args, |body| body.enter(*function, &results, &values, expr.loc))?;
                Ok(results)
            }
            Callee::Indirect(pointer) => self.indirect(pointer, args, expr),
        }
    }

    /// Returns variables for the result of a call, one for each scalar part.
    pub(super) fn result_variables(&mut self, result: QualType, loc: Loc) -> Lowered<Vec<VarId>> {
        let types = self.part_types(result, loc)?;
        Ok(types.into_iter().map(|ty| self.temporary(ty)).collect())
    }

    /// Evaluates arguments; returns the scalar parts of each with their types.
    pub(super) fn passed(&mut self, args: &[&Expr]) -> Lowered<Vec<Vec<(Ir, MachineTy)>>> {
        let mut passed = Vec::with_capacity(args.len());
        for (number, arg) in args.iter().enumerate() {
            let types = self.part_types(arg.ty, arg.loc)?;
            let values = if self.unit.types.is_record(arg.ty) { self.aggregate(arg)? } else { vec![self.value(arg)?] };
            let may_change = args[number + 1..].iter().any(|later| has_effects(later));
            let keep = |(value, ty): (Ir, MachineTy)| {
                let value = if may_change && !is_kept(&value, self) { self.save(value, ty) } else { value };
                (value, ty)
            };
            passed.push(values.into_iter().zip(types).map(keep).collect());
        }
        Ok(passed)
    }

    /// Calls a function of the program.
    pub(super) fn enter(
        &mut self,
        function: FunctionId,
        results: &[VarId],
        args: &[Vec<(Ir, MachineTy)>],
        loc: Loc,
    ) -> Lowered<()> {
        let unit = self.unit;
        let params = unit.functions[function].body.as_ref().map_or(&[][..], |body| &body.params);
        if params.len() != args.len() {
            return refuse("a call with another number of arguments is", loc);
        }
        let mut converted = Vec::new();
        for (param, parts) in params.iter().zip(args) {
            let types = self.part_types(unit.objects[*param].ty, loc)?;
            if types.len() != parts.len() {
                return refuse("an argument of another type is", loc);
            }
            converted.extend(parts.iter().zip(types).map(|((value, from), to)| cast(value.clone(), *from, to)));
        }
        let is_section = is_atomic(unit, function);
        if is_section && (self.low.facts.sections || self.low.facts.nested) {
            return refuse("an atomic function beside other atomic sections is", loc);
        }
        if is_section {
            self.step(Op::AtomicBegin);
        }
        let results = results.iter().copied().map(Some).collect();
        self.step(Op::Call(Call { results, callee: self.low.procs[&function], args: converted }));
        if is_section {
            self.step(Op::AtomicEnd);
        }
        Ok(())
    }

    /// Calls through a pointer: one branch for each function of the type whose address is taken.
    fn indirect(&mut self, pointer: &Expr, args: &[Expr], expr: &Expr) -> Lowered<Vec<VarId>> {
        let Some(of) = self.unit.types.pointee(pointer.ty) else { return refuse("this call is", expr.loc) };
        let results = self.result_variables(expr.ty, expr.loc)?;
        let ty = self.low.pointer_ty();
        let address = self.value(pointer)?;
        let address = self.save(address, ty);
        let values = self.passed(&args.iter().collect::<Vec<_>>())?;
        let callees = self.low.points.callees(pointer);
        let callees = self.callees(&address, callees);
        let (start, end) = (self.at, self.new_loc());
        let mut known = Vec::new();
        for function in self.low.facts.taken_functions.clone() {
            let declared = &self.unit.functions[function];
            if declared.body.is_none() {
                continue;
            }
            self.at = start;
            let is = ty.constant(i128::from(self.low.function_address(function)));
            let is_this = at_address(&address, is);
            known.push(is_this.clone());
            if !callees.contains(&function) {
                self.exceed_beyond(is_this, "a call leads to a function that the pointer was not derived from");
                continue;
            }
            if !self.is_callable(declared.ty, of, expr.loc)? {
                self.exceed(is_this, "a function is called through a pointer to another type");
                continue;
            }
            self.step(Op::assume(is_this));
            self.enter(function, &results, &values, expr.loc)?;
            self.jump(end);
        }
        self.check_callee(start, known);
        self.at = end;
        Ok(results)
    }

    /// Returns whether the type of a function is that of a pointer through which it is called.
    fn is_callable(&self, function: QualType, pointer: QualType, loc: Loc) -> Lowered<bool> {
        let types = &self.unit.types;
        let (Some(one), Some(other)) = (types.function(function), types.function(pointer)) else {
            return refuse("this call is", loc);
        };
        let ids = |ty: &FunctionType| -> Vec<_> { ty.params.iter().chain([&ty.result]).map(|ty| ty.id).collect() };
        Ok(ids(one) == ids(other))
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
                self.dead_end(fails);
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
                self.any_input(name, expr).map(Some)
            }
            (name, _) if ENDS.contains(&name) => {
                self.arguments(args)?;
                self.stop();
                Ok(None)
            }
            (name, _) if OUTPUT.contains(&name) || INPUT.contains(&name) => self.stream(name, args, expr).map(Some),
            (name, _) if DELAYS.contains(&name) || HINTS.contains(&name) => {
                if DELAYS.contains(&name) {
                    self.arguments(args)?;
                }
                Ok(Some(INT.constant(0)))
            }
            ("scanf" | "fscanf" | "sscanf", _) => self.scan(name, args, expr),
            ("realloc" | "reallocarray", _) => {
                refuse(format!("`{name}`, after which an object has another size and place, is"), expr.loc)
            }
            // It waits for a signal, which never comes.
            ("pause", []) => {
                self.step(Op::assume(Ir::FALSE));
                Ok(Some(INT.constant(-1)))
            }
            ("free", [pointer]) => self.free(pointer).map(|()| None),
            ("memset" | "memcpy" | "memmove", [..]) => self.memory_library(name, args, expr),
            _ => {
                let first = self.low.program.edges.len_idx();
                let result = self.threads_library(name, args, expr);
                self.low.view_locks(name, first);
                result
            }
        }
    }

    /// Returns any value of the type of a call, as an input of the program.
    fn any_input(&mut self, name: &str, expr: &Expr) -> Lowered<Ir> {
        if self.unit.types.is_pointer(expr.ty) {
            return refuse("any pointer is", expr.loc);
        }
        let ty = self.scalar(expr.ty, expr.loc)?;
        Ok(self.input(name, ty))
    }

    /// Calls a function that writes something out or reads an input: its arguments are evaluated, and it may return
    /// any value.
    fn stream(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Ir> {
        self.arguments(args)?;
        let is_input = INPUT.contains(&name);
        if is_input && args.iter().any(|arg| self.unit.integer(arg).is_none() && !is_null(arg)) {
            return refuse(format!("this use of `{name}` is"), expr.loc);
        }
        let ty = self.scalar(expr.ty, expr.loc)?;
        Ok(if is_input { self.input(name, ty) } else { self.any_value(ty) })
    }

    /// Calls a function without a body that is not known: it is refused unless the user says what it does.
    pub(super) fn unknown_function(&mut self, name: &str, args: &[Expr], expr: &Expr) -> Lowered<Option<Ir>> {
        let what = match self.low.externs {
            Extern::Refuse => {
                return refuse(format!("this use of the function `{name}`, which has no body, is"), expr.loc);
            }
            Extern::Havoc => "any value",
            Extern::Skip => "0",
        };
        let message = format!("`{name}` has no body: it is assumed to change nothing and to return {what} (--extern)");
        self.low.remark(message, expr.loc);
        self.arguments(args)?;
        if self.unit.types.is_void(expr.ty) {
            return Ok(None);
        }
        let ty = self.scalar(expr.ty, expr.loc)?;
        match self.low.externs {
            Extern::Skip => Ok(Some(ty.constant(0))),
            _ if self.unit.types.is_pointer(expr.ty) => refuse("any pointer is", expr.loc),
            _ => Ok(Some(self.any_value(ty))),
        }
    }

    /// Evaluates arguments that nothing is done with. What they point to is not read.
    pub(super) fn arguments(&mut self, args: &[Expr]) -> Lowered<()> {
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
