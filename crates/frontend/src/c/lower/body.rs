//! Lowering of functions: parameters, the body, its end; and the steps of a body.

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_ir::span::{Role, Site, Span, View};
use selvedge_ir::{EdgeId, Expr as Ir, LocId, MachineTy, Op, ProcId, Scope, Ty, VarId};

use super::super::files::Loc;
use super::super::tree::{FunctionId, LabelId, ObjectId, Unit};
use super::super::types::QualType;
use super::checks::Block;
use super::expr::is_kept;
use super::{Lowered, Lowering, refuse};

/// A function while it is being lowered.
pub(super) struct Body<'l, 'u> {
    pub(super) low: &'l mut Lowering<'u>,
    pub(super) unit: &'u Unit,
    pub(super) function: FunctionId,
    pub(super) proc: ProcId,
    pub(super) is_main: bool,
    /// The location at which the next step begins.
    pub(super) at: LocId,
    /// The text that the next steps belong to.
    pub(super) span: Span,
    /// Set while an expression is lowered that reads one shared cell at most: it is read by the step that uses it.
    pub(super) inline: bool,
    pub(super) labels: IndexVec<LabelId, LocId>,
    /// The locations to which `break` and `continue` lead, and the number of blocks around them.
    pub(super) breaks: Vec<(LocId, usize)>,
    pub(super) continues: Vec<(LocId, usize)>,
    /// The blocks around the statement, if lives of objects are noted, and those around each label.
    pub(super) blocks: Vec<Block>,
    pub(super) around_labels: FxHashMap<LabelId, Vec<usize>>,
    /// The locations of the cases of the statements `switch` around.
    pub(super) cases: Vec<Vec<LocId>>,
    /// The numbers of variables for intermediate values that are free, by their type, and those in use.
    pub(super) temporaries: FxHashMap<MachineTy, Vec<VarId>>,
    pub(super) in_use: Vec<(MachineTy, VarId)>,
    /// Set where statements may be executed again.
    pub(super) repeats: bool,
    /// Set inside of `!`: what is decided is then the opposite for the whole condition.
    pub(super) is_negated: bool,
    /// Where in the text the next step happens.
    pub(super) site: Option<Site>,
}

impl<'u> Lowering<'u> {
    /// Lowers one function.
    pub(super) fn function(&mut self, function: FunctionId, main: FunctionId) {
        let (unit, proc) = (self.unit, self.procs[&function]);
        let at = self.program.procs[proc].entry;
        let span = unit.functions[function].loc.span;
        let has_labels = unit.functions[function].body.as_ref().is_some_and(|body| !body.labels.is_empty());
        self.begin_race(function == main, has_labels);
        let mut body = Body {
            low: self,
            unit,
            function,
            proc,
            is_main: function == main,
            at,
            span,
            inline: false,
            labels: IndexVec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
            blocks: Vec::new(),
            around_labels: FxHashMap::default(),
            cases: Vec::new(),
            temporaries: FxHashMap::default(),
            in_use: Vec::new(),
            repeats: false,
            is_negated: false,
            site: None,
        };
        if let Err(refused) = body.whole() {
            self.report(refused);
        }
    }
}

impl Body<'_, '_> {
    fn whole(&mut self) -> Lowered<()> {
        let unit = self.unit;
        let declared = &unit.functions[self.function];
        let Some(body) = &declared.body else { return Ok(()) };
        if self.is_main && self.low.facts.called.contains(&self.function) {
            return refuse("a call of `main` is", declared.loc);
        }
        if unit.types.function(declared.ty).is_some_and(|ty| ty.variadic) {
            return refuse(format!("the variadic function `{}` is", unit.name(declared.name)), declared.loc);
        }
        let results = self.results(declared.loc)?.into_iter().map(Ty::Machine).collect();
        self.low.program.procs[self.proc].results = results;
        for param in &body.params {
            self.param(*param)?;
        }
        self.labels = body.labels.iter().map(|_| self.new_loc()).collect();
        self.repeats = !body.labels.is_empty();
        self.begin_function(&body.block);
        self.stmt(&body.block);
        self.span = body.end.span;
        self.leave(None, Role::FallOff)
    }

    /// Returns the types of the result of the function that is lowered: one for each scalar part.
    pub(super) fn results(&self, loc: Loc) -> Lowered<Vec<MachineTy>> {
        let ty = self.unit.types.function(self.unit.functions[self.function].ty).map(|ty| ty.result);
        match ty.filter(|_| !self.is_main) {
            Some(ty) => self.part_types(ty, loc),
            None => Ok(Vec::new()),
        }
    }

    fn param(&mut self, param: ObjectId) -> Lowered<()> {
        let declared = &self.unit.objects[param];
        if self.is_main {
            return self.argument_of_main(param);
        }
        let mut moved = Vec::new();
        for cell in self.low.cells(param, declared.loc)? {
            let var = if self.low.program.vars[cell.var].scope == Scope::Local(self.proc) {
                cell.var
            } else {
                let name = self.low.program.vars[cell.var].name.clone();
                let passed = self.low.new_var(name, Scope::Local(self.proc), Ty::Machine(cell.ty), declared.loc.span);
                self.low.hide([passed]);
                moved.push((cell.var, Ir::Var(passed)));
                passed
            };
            self.low.program.procs[self.proc].params.push(var);
        }
        if !moved.is_empty() {
            self.step(Op::set(moved));
            self.begin_life(param);
        }
        Ok(())
    }

    /// Adds the return from the function, or the end of the program. A value that is missing is any value.
    pub(super) fn leave(&mut self, values: Option<Vec<Ir>>, role: Role) -> Lowered<()> {
        let results = self.low.program.procs[self.proc].results.clone();
        let any = || results.iter().enumerate().map(|(number, ty)| Ir::Choice(number as u32, *ty)).collect();
        if self.is_main {
            // The program has ended: no thread could see a difference if it ran before. An atomic section stays closed.
            self.stop();
            return Ok(());
        }
        self.end_lives();
        let op = Op::Return(values.filter(|values| values.len() == results.len()).unwrap_or_else(any));
        let exit = self.low.program.procs[self.proc].exit;
        self.low.edge(self.at, exit, op, self.span, role);
        self.note_site(1);
        self.at = self.new_loc();
        Ok(())
    }

    pub(super) fn new_loc(&mut self) -> LocId {
        self.low.new_loc(self.proc)
    }

    /// Adds a step.
    pub(super) fn step(&mut self, op: Op) {
        let to = self.new_loc();
        self.low.edge(self.at, to, op, self.span, Role::Statement);
        self.note_site(1);
        self.at = to;
    }

    /// Adds the edges of a condition that is decided in one step.
    pub(super) fn fork(&mut self, condition: Ir, holds: LocId, fails: LocId) {
        match condition {
            Ir::Bool(value) => self.low.join(self.at, if value { holds } else { fails }),
            condition => {
                let negated = selvedge_ir::simplify::not(condition.clone());
                let (yes, no) = if self.is_negated { (Role::Fails, Role::Holds) } else { (Role::Holds, Role::Fails) };
                self.low.edge(self.at, holds, Op::assume(condition), self.span, yes);
                self.low.edge(self.at, fails, Op::assume(negated), self.span, no);
                self.note_site(2);
            }
        }
    }

    /// Goes on at a location.
    pub(super) fn jump(&mut self, to: LocId) {
        self.low.join(self.at, to);
        self.at = self.new_loc();
    }

    /// Adds the step that exceeds a limit where a condition holds.
    /// Returns the step and the assertion behind it.
    pub(super) fn exceed(&mut self, condition: Ir, what: &str) -> (EdgeId, EdgeId) {
        let (beyond, end) = (self.new_loc(), self.new_loc());
        let step = self.low.edge(self.at, beyond, Op::assume(condition), self.span, Role::Fails);
        let edge = self.low.edge(beyond, end, Op::Assert(Ir::FALSE), self.span, Role::Statement);
        self.low.map.limits.insert(edge, what.to_owned());
        self.low.checks.notes.insert(edge, what.to_owned());
        (step, edge)
    }

    /// Goes on where nothing follows: the thread makes no step any more.
    pub(super) fn stop(&mut self) {
        self.dead_end(self.at);
        self.at = self.new_loc();
    }

    /// Returns a variable for an intermediate value, until [`Body::release`] is called.
    pub(super) fn temporary(&mut self, ty: MachineTy) -> VarId {
        let var = match self.temporaries.entry(ty).or_default().pop() {
            Some(var) => var,
            None => {
                let var = self.low.new_var(format!("${ty}"), Scope::Local(self.proc), Ty::Machine(ty), self.span);
                self.low.map.views.insert(var, View::Hidden);
                var
            }
        };
        self.in_use.push((ty, var));
        var
    }

    /// Makes the variables that were taken since there were `kept` of them free again.
    pub(super) fn release(&mut self, kept: usize) {
        for (ty, var) in self.in_use.split_off(kept).into_iter().rev() {
            self.temporaries.entry(ty).or_default().push(var);
        }
    }

    /// Keeps a value in a variable of its own, unless it is constant.
    pub(super) fn save(&mut self, value: Ir, ty: MachineTy) -> Ir {
        if is_kept(&value, self) {
            return value;
        }
        let var = self.temporary(ty);
        self.step(Op::set(vec![(var, value)]));
        Ir::Var(var)
    }

    /// Returns a type as machine integers.
    pub(super) fn scalar(&self, ty: QualType, loc: Loc) -> Lowered<MachineTy> {
        self.low.scalar(ty, loc)
    }
}
