//! Objects and their cells.
//!
//! An object is flattened into its scalar parts, each of which is one variable. Members of a union that lie at the same
//! offset and have the same size share a cell; unions that overlap otherwise are refused. A bit-field is a cell of its
//! own. Addresses are made up: objects whose addresses are taken have numbers from 16 on, with gaps, functions
//! likewise, and null is 0.

use std::collections::BTreeMap;

use selvedge_ir::span::Span;
use selvedge_ir::{Expr, MachineTy, Scope, Ty, VarId};

use super::super::DataModel;
use super::super::files::Loc;
use super::super::fold::{Address, Base, Constant};
use super::super::tree::{Definition, FunctionId, ObjectId, Stmt, StmtKind, Storage};
use super::super::types::{Bits, Field, Length, QualType, Type};
use super::syntax::{exprs, has_statements, inner};
use super::{Lowered, Lowering, refuse};

/// A scalar part of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// In bytes, from the beginning of the object.
    pub(super) offset: u64,
    pub(super) size: u64,
    /// The bits at the offset, if it is a bit-field.
    pub(super) bits: Option<Bits>,
    pub(super) ty: MachineTy,
    pub(super) var: VarId,
    /// For a cell to which a pointer leads, whether that is by the second address of its object.
    pub(super) second: Option<bool>,
}

/// A scalar part of a type.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) bits: Option<Bits>,
    pub(super) ty: MachineTy,
    pub(super) is_pointer: bool,
    pub(super) name: String,
    /// The type in the text.
    pub(super) c_type: QualType,
}

impl Part {
    /// Returns the first bit of the part and the one behind the last, counted from the beginning of the object.
    fn range(&self) -> (u64, u64) {
        let start = self.offset * 8;
        match self.bits {
            Some(bits) => (start + u64::from(bits.shift), start + u64::from(bits.shift + bits.width)),
            None => (start, start + self.size * 8),
        }
    }
}

/// The limit on the cells of one object.
pub(super) const MAX_CELLS: usize = 4096;

/// The numbers that stand for addresses.
#[derive(Default)]
pub(super) struct Addresses {
    pub(super) objects: BTreeMap<ObjectId, u64>,
    pub(super) functions: BTreeMap<FunctionId, u64>,
    /// Further addresses of objects of blocks that are entered again (`checks/lives.rs`).
    pub(super) second: BTreeMap<ObjectId, u64>,
    /// The address of what is outside of the program.
    pub(super) outside: Option<u64>,
    end: u64,
}

impl Addresses {
    /// Returns a number behind all others, with space for an object.
    pub(super) fn reserve(&mut self, size: u64) -> u64 {
        let base = self.end.max(16);
        self.end = (base + size).next_multiple_of(16) + 16;
        base
    }
}

impl Lowering<'_> {
    /// Returns the machine integers that represent values of a type.
    pub(super) fn scalar(&self, ty: QualType, loc: Loc) -> Lowered<MachineTy> {
        let types = &self.unit.types;
        match types.get(ty) {
            Type::Bool => Ok(MachineTy::unsigned(1)),
            Type::Pointer(_) => Ok(self.pointer_ty()),
            _ => match types.integer(ty).map(|kind| (kind.width(types.model), kind.is_signed())) {
                Some((bits @ ..=64, signed)) => Ok(MachineTy { bits: bits as u8, signed }),
                _ => refuse(format!("a value of type `{}` is", self.unit.show_type(ty)), loc),
            },
        }
    }

    /// Returns the machine integers that represent addresses.
    pub(super) fn pointer_ty(&self) -> MachineTy {
        MachineTy::unsigned(if self.unit.types.model == DataModel::Lp64 { 64 } else { 32 })
    }

    /// Returns the cells of an object.
    pub(super) fn cells(&mut self, object: ObjectId, loc: Loc) -> Lowered<Vec<Cell>> {
        if let Some(cells) = self.cells.get(&object) {
            return Ok(cells.clone());
        }
        let scope = self.scope(object, loc)?;
        let declared = &self.unit.objects[object];
        let mut parts = Vec::new();
        self.flatten(declared.ty, 0, self.unit.name(declared.name).to_owned(), &mut parts, loc)?;
        let span = declared.loc.span;
        let cells: Vec<Cell> = parts.into_iter().map(|part| self.new_cell(part, scope, span)).collect();
        self.cells.insert(object, cells.clone());
        Ok(cells)
    }

    fn new_cell(&mut self, part: Part, scope: Scope, span: Span) -> Cell {
        let var = self.new_var(part.name, scope, Ty::Machine(part.ty), span);
        self.view_object(var, part.c_type);
        Cell { offset: part.offset, size: part.size, bits: part.bits, ty: part.ty, var, second: None }
    }

    /// Returns the scalar parts of values of a type. The states of locks are not among them.
    pub(super) fn parts(&self, ty: QualType, loc: Loc) -> Lowered<Vec<Part>> {
        let mut parts = Vec::new();
        self.flatten(ty, 0, String::new(), &mut parts, loc)?;
        Ok(parts)
    }

    /// Returns how many copies of an object there are.
    pub(super) fn scope(&self, object: ObjectId, loc: Loc) -> Lowered<Scope> {
        let declared = &self.unit.objects[object];
        if declared.definition == Definition::Declared && declared.storage == Storage::Static {
            return refuse(format!("`{}`, which is defined elsewhere, is", self.unit.name(declared.name)), loc);
        }
        let (storage, is_taken) = (declared.storage, self.facts.taken.contains(&object));
        let local = declared.function.filter(|_| matches!(storage, Storage::Auto | Storage::Param));
        match (storage, local) {
            // A copy of a thread has copies of its objects, not their initial values.
            (Storage::Thread, _) if self.facts.forks => {
                refuse("a thread-local object beside threads that are copies is", loc)
            }
            (Storage::Thread, _) if is_taken => refuse("the address of a thread-local object is", loc),
            (Storage::Thread, _) => Ok(Scope::Thread),
            (_, Some(function)) if is_taken => {
                let name = self.unit.name(declared.name);
                match self.facts.single.contains(&function) {
                    true => Ok(Scope::Shared),
                    false => refuse(format!("the address of `{name}`, of which several copies may live, is"), loc),
                }
            }
            (_, Some(function)) => match self.procs.get(&function) {
                Some(proc) => Ok(Scope::Local(*proc)),
                None => refuse("an object of another function is", loc),
            },
            (Storage::Static, _) => Ok(Scope::Shared),
            _ => refuse("a compound literal outside of functions is", loc),
        }
    }

    /// Adds the scalar parts of a type.
    fn flatten(&self, ty: QualType, offset: u64, name: String, parts: &mut Vec<Part>, loc: Loc) -> Lowered<()> {
        let types = &self.unit.types;
        if parts.len() > MAX_CELLS {
            return refuse(format!("an object with more than {MAX_CELLS} parts is"), loc);
        }
        match types.get(ty) {
            Type::Array(of, Length::Known(length)) => {
                let size = types.layout(*of).map_or(1, |layout| layout.size);
                for number in 0..*length {
                    self.flatten(*of, offset + number * size, format!("{name}[{number}]"), parts, loc)?;
                }
                Ok(())
            }
            Type::Record(_) if self.facts.opaque.contains(&ty.id) => Ok(()),
            Type::Record(_) => {
                let Some(body) = types.record(ty) else { return refuse("an incomplete type is", loc) };
                for field in &body.fields {
                    if let Some(bits) = field.bits {
                        self.add_bits(field, bits, offset, &name, parts, loc)?;
                        continue;
                    }
                    let name = match field.name {
                        Some(member) => format!("{name}.{}", self.unit.name(member)),
                        None => name.clone(),
                    };
                    self.flatten(field.ty, offset + field.offset, name, parts, loc)?;
                }
                Ok(())
            }
            _ => {
                let machine = self.scalar(ty, loc)?;
                let size = types.layout(ty).map_or(1, |layout| layout.size);
                let is_pointer = types.is_pointer(ty);
                add_part(Part { offset, size, bits: None, ty: machine, is_pointer, name, c_type: ty }, parts, loc)
            }
        }
    }

    /// Adds a bit-field; those without a name hold nothing.
    fn add_bits(
        &self,
        field: &Field,
        bits: Bits,
        offset: u64,
        name: &str,
        parts: &mut Vec<Part>,
        loc: Loc,
    ) -> Lowered<()> {
        let Some(member) = field.name else { return Ok(()) };
        let whole = self.scalar(field.ty, loc)?;
        let width = u8::try_from(bits.width).unwrap_or(whole.bits).min(whole.bits);
        let ty = MachineTy { bits: width, signed: whole.signed };
        let name = format!("{name}.{}", self.unit.name(member));
        let size = self.unit.types.layout(field.ty).map_or(1, |layout| layout.size);
        let part = Part {
            offset: offset + field.offset,
            size,
            bits: Some(bits),
            ty,
            is_pointer: false,
            name,
            c_type: field.ty,
        };
        add_part(part, parts, loc)
    }

    /// Returns the address of an object.
    pub(super) fn address(&mut self, object: ObjectId) -> u64 {
        let size = self.unit.types.layout(self.unit.objects[object].ty).map_or(1, |layout| layout.size);
        let addresses = &mut self.addresses;
        match addresses.objects.get(&object) {
            Some(address) => *address,
            None => {
                let address = addresses.reserve(size);
                addresses.objects.insert(object, address);
                address
            }
        }
    }

    /// Gives an object a second address.
    pub(super) fn second_address(&mut self, object: ObjectId) {
        let size = self.unit.types.layout(self.unit.objects[object].ty).map_or(1, |layout| layout.size);
        let address = self.addresses.reserve(size);
        self.addresses.second.insert(object, address);
    }

    /// Returns the addresses that an object may have, and whether they are the second ones.
    pub(super) fn bases(&mut self, object: ObjectId) -> Vec<(u64, bool)> {
        let first = (self.address(object), false);
        std::iter::once(first).chain(self.addresses.second.get(&object).map(|second| (*second, true))).collect()
    }

    /// Returns the address of a function.
    pub(super) fn function_address(&mut self, function: FunctionId) -> u64 {
        let addresses = &mut self.addresses;
        match addresses.functions.get(&function) {
            Some(address) => *address,
            None => {
                let address = addresses.reserve(1);
                addresses.functions.insert(function, address);
                address
            }
        }
    }

    /// Gives all objects whose addresses are taken their addresses.
    pub(super) fn declare_taken(&mut self) {
        for object in self.facts.taken.clone() {
            self.address(object);
        }
    }

    /// Returns the initial values of objects that live as long as the program or a thread.
    pub(super) fn object_values(&mut self) -> Vec<(VarId, Expr)> {
        let mut objects: Vec<ObjectId> = self.cells.keys().copied().collect();
        objects.sort_unstable();
        let mut values = Vec::new();
        for object in objects {
            let declared = &self.unit.objects[object];
            if let Some(found) = self.slot_values(object) {
                values.extend(found);
                continue;
            }
            if matches!(declared.storage, Storage::Static | Storage::Thread) {
                match self.static_values(object) {
                    Ok(found) => values.extend(found),
                    Err(refused) => self.report(refused),
                }
            } else if self.is_declared_first(object) {
                let shared = self.cells[&object].iter().filter(|cell| self.is_shared(cell.var));
                values.extend(shared.map(|cell| (cell.var, cell.ty.constant(0))));
            }
        }
        values
    }

    /// Returns whether a local object always gets a value before it is used: there are no jumps over declarations.
    fn is_declared_first(&self, object: ObjectId) -> bool {
        let function = self.unit.objects[object].function;
        let body = function.and_then(|function| self.unit.functions[function].body.as_ref());
        body.is_some_and(|body| body.labels.is_empty() && !has_switch(&body.block))
    }

    fn static_values(&mut self, object: ObjectId) -> Lowered<Vec<(VarId, Expr)>> {
        let unit = self.unit;
        let cells = self.cells[&object].clone();
        let mut numbers = vec![0_i128; cells.len()];
        for item in unit.objects[object].init.iter().flat_map(|init| &init.items) {
            let number = match unit.fold(&item.value).map(|folded| folded.constant) {
                Some(Constant::Integer(number)) => number,
                Some(Constant::Address(address)) => self.constant_address(address),
                _ => return refuse("an initial value of this kind is", item.value.loc),
            };
            match cells.iter().position(|cell| (cell.offset, cell.bits) == (item.offset, item.bits)) {
                Some(at) => numbers[at] = number,
                None => return refuse("an initial value of this part is", item.value.loc),
            }
        }
        Ok(cells.iter().zip(numbers).map(|(cell, number)| (cell.var, cell.ty.constant(number))).collect())
    }

    fn constant_address(&mut self, address: Address) -> i128 {
        let base = match address.base {
            Base::Null => 0,
            Base::Object(object) => self.address(object),
            Base::Function(function) => self.function_address(function),
            Base::String(string) => self.address(self.facts.strings[string]),
        };
        i128::from(base) + address.offset
    }
}

/// Returns whether a statement has jumps to cases, which may skip declarations.
fn has_switch(stmt: &Stmt) -> bool {
    let is_switch = matches!(stmt.kind, StmtKind::Switch { .. }) || exprs(stmt).into_iter().any(has_statements);
    is_switch || inner(stmt).into_iter().any(has_switch)
}

/// Adds a part, unless it is one that is there already, as members of unions are.
fn add_part(part: Part, parts: &mut Vec<Part>, loc: Loc) -> Lowered<()> {
    let (start, end) = part.range();
    let overlaps = |other: &&Part| start < other.range().1 && other.range().0 < end;
    match parts.iter().rev().find(overlaps) {
        None => parts.push(part),
        Some(same) if same.is_pointer || part.is_pointer => return refuse("a union with pointers is", loc),
        Some(same)
            if (same.offset, same.size, same.bits, same.ty.bits)
                == (part.offset, part.size, part.bits, part.ty.bits) => {}
        Some(_) => return refuse("a union whose members overlap in part is", loc),
    }
    Ok(())
}
