//! What a step changes: the differences between the states around it.

use selvedge_ir::span::Role;
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{Op, Value, VarId};
use selvedge_replay::State;

use crate::annotated_trace::{Annotator, Binding, Change};
use crate::thread_names::ThreadNames;
use crate::views::{Holders, follow, is_hidden};

impl Annotator<'_> {
    /// The differences between two states in variables that exist in both, and first values.
    pub(crate) fn changes(
        &self,
        names: &ThreadNames,
        holders: &Holders,
        step: &Step,
        before: &State,
        after: &State,
    ) -> Vec<Change> {
        if self.context().map.edges[step.edge].role == Role::Initialise {
            return self.first_values(step, after);
        }
        let mut changes = Vec::new();
        self.compare(&self.shared, &self.shared_values(before), &self.shared_values(after), None, &mut changes);
        for old in &before.threads {
            let Some(new) = after.thread(old.id) else { continue };
            let of = (old.id != step.thread).then(|| (old.id, names.of(old.id)));
            let values = [old, new].map(|thread| self.thread_values(thread));
            self.compare(&self.thread_vars, &values[0], &values[1], of.as_ref(), &mut changes);
            for (old, new) in old.stack.iter().zip(&new.stack).filter(|(old, new)| old.proc == new.proc) {
                let locals = &self.context().program.procs[new.proc].locals;
                self.compare(locals, &old.locals, &new.locals, of.as_ref(), &mut changes);
            }
        }
        changes.retain(|change| !is_hidden(self.context().map, change.var));
        let mut holding = holders.clone();
        follow(self.context().map, &mut holding, names, step.thread, &changes);
        for change in &mut changes {
            let old = change.before.and_then(|before| self.word(holders, change.var, before));
            change.words = [old, self.word(&holding, change.var, change.after)];
        }
        changes
    }

    fn compare(
        &self,
        vars: &[VarId],
        old: &[Value],
        new: &[Value],
        of: Option<&(ThreadId, String)>,
        changes: &mut Vec<Change>,
    ) {
        let differing = vars.iter().zip(old.iter().zip(new)).filter(|(_, (old, new))| old != new);
        changes.extend(differing.map(|(var, (old, new))| Change {
            var: *var,
            name: self.name(*var),
            of: of.cloned(),
            before: Some(*old),
            after: *new,
            words: [None, None],
            free: false,
        }));
    }

    /// The values that the initialisers of a procedure's locals gave.
    fn first_values(&self, step: &Step, after: &State) -> Vec<Change> {
        let (Op::Assign(assign), Some(thread)) =
            (&self.context().program.edges[step.edge].op, after.thread(step.thread))
        else {
            return Vec::new();
        };
        let assigned = |local: &Binding| assign.active.iter().any(|(var, _)| *var == local.var);
        let locals = self.locals(thread.top()).into_iter().filter(assigned);
        locals
            .map(|local| Change {
                var: local.var,
                name: local.name,
                of: None,
                before: None,
                after: local.value,
                words: [None, local.word],
                free: false,
            })
            .collect()
    }
}
