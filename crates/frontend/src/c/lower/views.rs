//! What reports show of variables: locks and pointers as such, constants of enumerations by name, and nothing that the
//! source does not have.

use selvedge_ir::span::View;
use selvedge_ir::{EdgeId, Op, VarId};

use super::super::tree::ObjectId;
use super::super::types::{Length, QualType, Type};
use super::Lowering;
use super::mutex::is_mutex;
use super::objects::{Cell, MAX_CELLS};
use super::sync::State;

impl Lowering<'_> {
    /// Leaves variables out of reports.
    pub(super) fn hide<const N: usize>(&mut self, vars: [VarId; N]) {
        self.map.views.extend(vars.map(|var| (var, View::Hidden)));
    }

    /// Notes how a scalar part of an object is shown.
    pub(super) fn view_object(&mut self, var: VarId, ty: QualType) {
        let types = &self.unit.types;
        let view = match types.get(ty) {
            Type::Pointer(_) => View::Pointer,
            Type::Enum(id) => {
                let constants = types.enums[*id].constants.iter();
                View::Words(constants.map(|(name, value)| (*value, self.unit.name(*name).to_owned())).collect())
            }
            _ => return,
        };
        self.map.views.insert(var, view);
    }

    /// Notes that the objects which the steps from an edge on change are locks, as the name of a function says.
    pub(super) fn view_locks(&mut self, function: &str, first: EdgeId) {
        let view = match function {
            name if is_mutex(name) => View::Lock,
            name if name.starts_with("pthread_rwlock_") => View::ReadWriteLock,
            _ => return,
        };
        let edges = &self.program.edges.as_raw_slice()[first.index()..];
        let assigned = edges.iter().filter_map(|edge| match &edge.op {
            Op::Assign(assign) => Some(&assign.active),
            _ => None,
        });
        for (var, _) in assigned.flatten() {
            if self.sync.iter().any(|((.., state), cell)| cell.var == *var && *state == State::Main) {
                self.map.views.insert(*var, view.clone());
            }
        }
    }

    /// Names all addresses: parts of objects, the ends of arrays, and functions.
    pub(super) fn name_addresses(&mut self) {
        let unit = self.unit;
        for (function, address) in &self.addresses.functions {
            let name = unit.name(unit.functions[*function].name).to_owned();
            self.map.addresses.insert(*address, name);
        }
        for (object, address) in &self.addresses.objects {
            let declared = &unit.objects[*object];
            let name = unit.name(declared.name);
            let parts = self.cells.get(object).into_iter().flatten();
            let is_main =
                |((of, _, state), _): &(&(ObjectId, u64, State), &Cell)| of == object && *state == State::Main;
            let locks = self.sync.iter().filter(is_main).map(|(_, cell)| cell);
            for cell in parts.chain(locks) {
                let name = self.program.vars[cell.var].name.clone();
                self.map.addresses.insert(address + cell.offset, name);
            }
            match unit.types.get(declared.ty) {
                Type::Array(of, Length::Known(length)) => {
                    let size = unit.types.layout(*of).map_or(1, |layout| layout.size);
                    // An array with more elements than an object may have parts cannot be used anyway.
                    let is_named = unit.types.is_record(*of) && *length <= MAX_CELLS as u64;
                    let numbers = if is_named { 0..length + 1 } else { *length..length + 1 };
                    let named = numbers.map(|number| (address + size * number, format!("{name}[{number}]")));
                    self.map.addresses.extend(named);
                }
                _ => {
                    self.map.addresses.insert(*address, name.to_owned());
                }
            }
        }
    }
}
