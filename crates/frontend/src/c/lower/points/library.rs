//! Calls: of functions of the program, of the library and of the compiler.

use super::super::super::tree::{Builtin, Callee, Expr, FunctionId};
use super::offsets::Move;
use super::walk::{Parts, whole};
use super::{Points, Target, Targets, add};
use crate::c::lower::syntax::uncast;

impl Points<'_> {
    /// Evaluates a call; returns its value.
    pub(super) fn call(&mut self, expr: &Expr, callee: &Callee, args: &[Expr]) -> Parts {
        let called = match callee {
            Callee::Direct(function) if self.unit.functions[*function].body.is_none() => {
                let name = self.unit.name(self.unit.functions[*function].name);
                return vec![(0, self.library(name, args))];
            }
            Callee::Direct(function) => vec![*function],
            Callee::Indirect(pointer) => {
                let targets = self.value(pointer);
                self.functions(&targets)
            }
        };
        let given: Vec<Parts> = args.iter().map(|arg| self.parts(arg)).collect();
        let is_void = self.unit.types.is_void(expr.ty);
        called.into_iter().flat_map(|function| self.enter(function, &given)).filter(|_| !is_void).collect()
    }

    /// Returns the functions among targets.
    pub(super) fn functions(&self, targets: &Targets) -> Vec<FunctionId> {
        let mut found: Vec<FunctionId> = Vec::new();
        for target in targets {
            match target {
                Target::Function(function) => found.push(*function),
                Target::Anything => found.extend(&self.taken),
                Target::Part(..) | Target::Whole(_) | Target::Outside => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Passes arguments to a function; returns what it returns.
    pub(super) fn enter(&mut self, function: FunctionId, args: &[Parts]) -> Parts {
        self.reach(function);
        let unit = self.unit;
        let params = unit.functions[function].body.as_ref().map_or(&[][..], |body| &body.params);
        for (param, parts) in params.iter().zip(args) {
            let at = Targets::from([self.part(*param, 0)]);
            self.assign_parts(&at, parts);
        }
        let results = self.results.range((function, 0)..=(function, u64::MAX));
        results.map(|((_, offset), targets)| (*offset, targets.clone())).collect()
    }

    fn library(&mut self, name: &str, args: &[Expr]) -> Targets {
        let given: Vec<Targets> = args.iter().map(|arg| whole(self.parts(arg))).collect();
        let arg = |number: usize| given.get(number).cloned().unwrap_or_default();
        match name {
            "pthread_create" => self.start(&arg(2), arg(3)),
            "thrd_create" => self.start(&arg(1), arg(2)),
            "pthread_join" | "thrd_join" => {
                let mut results = self.exits.clone();
                for function in self.started.clone() {
                    results.extend(self.results.get(&(function, 0)).into_iter().flatten());
                }
                self.assign(&arg(1), &results);
            }
            "pthread_exit" | "thrd_exit" => self.grows |= add(&mut self.exits, &arg(0)),
            "pthread_setspecific" | "tss_set" => self.grows |= add(&mut self.data, &arg(1)),
            "pthread_getspecific" | "tss_get" => return self.data.clone(),
            "pthread_key_create" | "tss_create" => {
                let found = self.functions(&arg(1));
                self.destructors.extend(found);
            }
            "pthread_once" | "call_once" => {
                for function in self.functions(&arg(1)) {
                    self.enter(function, &[]);
                }
            }
            "memcpy" | "memmove" => {
                self.copy(args, &arg(0), &arg(1));
                return arg(0);
            }
            "memset" => return arg(0),
            _ => {}
        }
        Targets::new()
    }

    fn start(&mut self, start: &Targets, argument: Targets) {
        let given = [vec![(0, argument)]];
        for function in self.functions(start) {
            self.started.insert(function);
            self.enter(function, &given);
        }
    }

    /// Copies the parts of the elements to which two pointers lead, and of the elements behind them.
    fn copy(&mut self, args: &[Expr], to: &Targets, from: &Targets) {
        let types = &self.unit.types;
        let of = args.first().and_then(|to| types.pointee(uncast(to).ty));
        let size = of.and_then(|of| types.layout(of)).map(|layout| layout.size);
        let (Some(of), Some(size)) = (of, size.filter(|size| *size > 0)) else { return };
        let (to, from) = (self.moved(to, Move::Multiple(size)), self.moved(from, Move::Multiple(size)));
        let parts = self.read_parts(&from, of);
        self.assign_parts(&to, &parts);
    }

    /// Evaluates a function of the compiler.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &[Expr]) -> Targets {
        let given: Vec<Targets> = args.iter().map(|arg| whole(self.parts(arg))).collect();
        let arg = |number: usize| given.get(number).cloned().unwrap_or_default();
        let pointer = arg(0);
        match builtin {
            Builtin::AtomicLoad => self.contents(&pointer),
            Builtin::AtomicStore | Builtin::AtomicInit => {
                self.assign(&pointer, &arg(1));
                Targets::new()
            }
            Builtin::AtomicExchange | Builtin::SyncLockTestAndSet => {
                self.assign(&pointer, &arg(1));
                self.contents(&pointer)
            }
            Builtin::AtomicCompareExchange | Builtin::AtomicCompareExchangeFrom => {
                let (old, wanted) = (self.contents(&pointer), arg(1));
                self.assign(&wanted, &old);
                let desired = if builtin == Builtin::AtomicCompareExchange { arg(2) } else { self.contents(&arg(2)) };
                self.assign(&pointer, &desired);
                Targets::new()
            }
            Builtin::AtomicLoadInto => self.transfer(&pointer, &arg(1)),
            Builtin::AtomicStoreFrom => self.transfer(&arg(1), &pointer),
            Builtin::AtomicExchangeInto => {
                self.transfer(&pointer, &arg(2));
                self.transfer(&arg(1), &pointer)
            }
            Builtin::AtomicFetch { .. } | Builtin::SyncFetch { .. } => {
                let mut targets = self.contents(&pointer);
                targets.extend(arg(1));
                let targets = self.blurred(targets);
                self.assign(&pointer, &targets);
                targets
            }
            Builtin::SyncBoolCompareAndSwap | Builtin::SyncValCompareAndSwap => {
                self.assign(&pointer, &arg(2));
                self.contents(&pointer)
            }
            // The others compute with numbers.
            _ => {
                let targets = given.into_iter().flatten().collect();
                self.blurred(targets)
            }
        }
    }

    fn transfer(&mut self, from: &Targets, to: &Targets) -> Targets {
        let values = self.contents(from);
        self.assign(to, &values);
        Targets::new()
    }
}
