//! The states in which a thread can be inside of blocks, where a search does not stop.

use fixedbitset::FixedBitSet;
use selvedge_check::{Run, Stop};

use super::Model;
use super::parts::Local;
use super::values::Bits;
use crate::macro_step::visible_points::invisible;
use crate::step::explicit::{Outcome, View};

/// The steps that other threads cannot observe.
pub struct Between {
    invisible: FixedBitSet,
}

impl Between {
    /// Finds these steps.
    pub fn new(model: &Model<'_>) -> Between {
        Between { invisible: invisible(model.program()) }
    }

    /// Calls `found` with each state inside of a block to which one of these steps leads from a state of a thread. They
    /// do not change the shared variables.
    pub fn next(
        &self,
        model: &Model<'_>,
        (shared, local): (&Bits, &Local),
        run: &Run<'_>,
        found: &mut dyn FnMut(Local),
    ) -> Result<(), Stop> {
        let program = model.program();
        for id in model.flow.out(local.loc).iter().filter(|id| self.invisible.contains(id.index())) {
            run.tick()?;
            let to = program.edges[*id].to;
            let is_exit = to == program.procs[program.locs[local.loc].proc].exit;
            if is_exit || model.visible_points.is_stop(to) {
                continue;
            }
            let mut arrive = |bits: Bits| {
                let mut next = Local { kind: local.kind, loc: to, bits };
                model.forget(&mut next);
                found(next);
            };
            let view = View { shared, locals: &local.bits };
            model.steps.steps(*id, view, false, run, &mut |_, outcome| match outcome {
                Outcome::Next(values) => arrive(values.locals),
                Outcome::Passes => arrive(local.bits.clone()),
                _ => {}
            })?;
        }
        Ok(())
    }
}
