//! Initial values, flattened: a list of parts with a value each.
//!
//! Braces may be left out: a part that is a struct, union or array then takes as many values of the list around it as
//! it needs. A designator moves the position; the values behind it go on from there. A value for a part that has one
//! already replaces it. The parts are therefore kept ordered by their first bit, in which they never overlap.

use std::collections::{BTreeMap, VecDeque};

use super::Typer;
use crate::c::files::Loc;
use crate::c::names::Symbol;
use crate::c::tree::{Expr, ExprKind, Init, InitItem, PathStep, StringId};
use crate::c::types::{Bits, Length, QualType, Type};
use crate::diagnostic::Code;

/// An initial value as it is written.
#[derive(Clone, Debug)]
pub(crate) enum RawInit {
    Expr(Expr),
    List(Vec<RawItem>, Loc),
}

/// A value of a list, with the part that it is for.
#[derive(Clone, Debug)]
pub(crate) struct RawItem {
    pub(crate) designators: Vec<Designator>,
    pub(crate) value: RawInit,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Designator {
    /// `.name`
    Field(Symbol, Loc),
    /// `[first ... last]`
    Index(u64, u64, Loc),
    /// A member by its number.
    Number(usize),
}

/// Limit on the number of parts with a value of one object.
const MAX_ITEMS: usize = 1 << 20;

/// A part of an object.
#[derive(Clone)]
struct Part {
    path: Vec<PathStep>,
    offset: u64,
    bits: Option<Bits>,
    ty: QualType,
}

/// The values of one object so far.
struct Values {
    /// `None` for those that were replaced.
    items: Vec<Option<InitItem>>,
    /// For the first bit of each part, the bit behind its last one and the number of its item.
    parts: BTreeMap<u64, (u64, usize)>,
    is_static: bool,
}

/// The values of a list that are left.
type Rest = VecDeque<RawItem>;

impl RawInit {
    pub(crate) fn loc(&self) -> Loc {
        match self {
            RawInit::Expr(expr) => expr.loc,
            RawInit::List(_, loc) => *loc,
        }
    }
}

impl Typer {
    /// Returns the initial values of an object, and its type: an array without a length gets one.
    pub(crate) fn initialise(&mut self, ty: QualType, raw: RawInit, is_static: bool) -> (QualType, Init) {
        let mut values = Values { items: Vec::new(), parts: BTreeMap::new(), is_static };
        let part = Part { path: Vec::new(), offset: 0, bits: None, ty };
        let length = self.init_part(&mut values, &part, raw);
        let ty = match (self.unit.types.get(ty).clone(), length) {
            (Type::Array(of, Length::Unknown), Some(length)) => {
                self.types().array(of, Length::Known(length)).with(ty.quals)
            }
            _ => ty,
        };
        (ty, Init { items: values.items.into_iter().flatten().collect() })
    }

    /// Sets a part to a value. Returns the number of elements that an array got.
    fn init_part(&mut self, values: &mut Values, part: &Part, raw: RawInit) -> Option<u64> {
        if let Some(string) = self.string_for(part.ty, &raw) {
            return self.init_string(values, part, string, raw.loc());
        }
        match raw {
            RawInit::Expr(expr) => {
                self.init_expr(values, part, expr);
                None
            }
            RawInit::List(items, loc) => match self.unit.types.get(part.ty) {
                Type::Array(..) | Type::Record(_) => {
                    self.forget(values, part, |_| true);
                    let mut rest: Rest = items.into();
                    let length = self.init_parts(values, part, &mut rest, None, true);
                    Some(length)
                }
                Type::Error => None,
                _ => {
                    self.init_scalar_list(values, part, items, loc);
                    None
                }
            },
        }
    }

    fn init_scalar_list(&mut self, values: &mut Values, part: &Part, items: Vec<RawItem>, loc: Loc) {
        let n_items = items.len();
        let Some(first) = items.into_iter().next() else {
            return self.error(Code::CInitialiser, "one value is needed here", loc);
        };
        if n_items > 1 || !first.designators.is_empty() {
            self.error(Code::CInitialiser, "one value is needed here", loc);
        }
        self.init_part(values, part, first.value);
    }

    fn init_expr(&mut self, values: &mut Values, part: &Part, expr: Expr) {
        let loc = expr.loc;
        if self.unit.types.is_array(part.ty) {
            return self.init_array_copy(values, part, expr);
        }
        let value = self.assigned(expr, part.ty.plain(), "the initialised object");
        if self.unit.types.is_error(value.ty) {
            return;
        }
        if values.is_static && self.unit.types.is_record(part.ty) && self.splice(values, part, &value) {
            return;
        }
        if values.is_static && self.unit.fold(&value).is_none() {
            return self.error(Code::CNotConstant, "this initial value is not constant", loc);
        }
        self.set(values, part, value);
    }

    /// Copies the values of a compound literal, which constant ones may be.
    fn splice(&mut self, values: &mut Values, part: &Part, value: &Expr) -> bool {
        let ExprKind::Load(place) = &value.kind else { return false };
        let ExprKind::CompoundLiteral(id) = place.kind else { return false };
        self.copy_items(values, part, id);
        true
    }

    fn copy_items(&mut self, values: &mut Values, part: &Part, id: crate::c::tree::ObjectId) {
        let items = self.unit.objects[id].init.clone().unwrap_or_default().items;
        for item in items {
            let path = part.path.iter().chain(&item.path).copied().collect();
            let offset = part.offset + item.offset;
            self.set(values, &Part { path, offset, bits: item.bits, ty: item.ty }, item.value);
        }
    }

    /// Sets an array to a compound literal, as GNU allows it.
    fn init_array_copy(&mut self, values: &mut Values, part: &Part, expr: Expr) {
        match expr.kind {
            ExprKind::CompoundLiteral(id) if self.is_compatible_plain(part.ty, expr.ty) => {
                self.copy_items(values, part, id);
            }
            ExprKind::Error => {}
            _ => self.error(Code::CInitialiser, "an array needs values in braces", expr.loc),
        }
    }

    /// Returns the string that initialises an array of characters.
    fn string_for(&self, ty: QualType, raw: &RawInit) -> Option<StringId> {
        let types = &self.unit.types;
        let Type::Array(of, _) = types.get(ty) else { return None };
        let expr = match raw {
            RawInit::Expr(expr) => expr,
            RawInit::List(items, _) => match items.as_slice() {
                [RawItem { designators, value: RawInit::Expr(expr) }] if designators.is_empty() => expr,
                _ => return None,
            },
        };
        let ExprKind::String(id) = expr.kind else { return None };
        let Type::Array(element, _) = types.get(expr.ty) else { return None };
        let size = |ty| types.layout(ty).map(|layout| layout.size);
        (types.integer(*of).is_some() && size(*of) == size(*element)).then_some(id)
    }

    fn init_string(&mut self, values: &mut Values, part: &Part, id: StringId, loc: Loc) -> Option<u64> {
        let Type::Array(of, length) = *self.unit.types.get(part.ty) else { return None };
        let units = self.unit.strings[id].units.clone();
        let n_units = units.len() as u64;
        let length = match length {
            Length::Known(length) => length,
            _ => n_units,
        };
        if n_units - 1 > length {
            self.error(Code::CInitialiser, format!("this string is longer than the {length} elements"), loc);
        }
        for (number, unit) in units.into_iter().enumerate().take(usize::try_from(length).unwrap_or(usize::MAX)) {
            let value = self.unit.types.wrap(i128::from(unit), of);
            let value = self.make(ExprKind::Integer(value), of.plain(), loc);
            if let Some(element) = self.element_of(part, number as u64) {
                self.set(values, &element, value);
            }
        }
        Some(length)
    }

    /// Returns an element of an array, or a member.
    fn element_of(&self, part: &Part, number: u64) -> Option<Part> {
        let types = &self.unit.types;
        let mut path = part.path.clone();
        match types.get(part.ty) {
            Type::Array(of, _) => {
                path.push(PathStep::Index(number));
                let offset = types.layout(*of)?.size.checked_mul(number)?.checked_add(part.offset)?;
                Some(Part { path, offset, bits: None, ty: *of })
            }
            Type::Record(_) => {
                let number = usize::try_from(number).ok()?;
                let field = types.record(part.ty)?.fields.get(number)?;
                path.push(PathStep::Field(number));
                Some(Part { path, offset: part.offset + field.offset, bits: field.bits, ty: field.ty })
            }
            _ => None,
        }
    }

    /// Returns the number of the elements or members that values can be for; `None` if there is no limit.
    fn n_elements(&self, ty: QualType) -> Option<u64> {
        match self.unit.types.get(ty) {
            Type::Array(_, Length::Known(length)) => Some(*length),
            Type::Array(..) => None,
            _ => Some(self.unit.types.record(ty).map_or(0, |body| body.fields.len() as u64)),
        }
    }

    /// Returns the first member from a number on that can have a value: unnamed bit-fields cannot.
    fn skip_unnamed(&self, ty: QualType, mut number: u64) -> u64 {
        if let Some(body) = self.unit.types.record(ty) {
            let is_unnamed = |number: u64| {
                let field = usize::try_from(number).ok().and_then(|number| body.fields.get(number));
                field.is_some_and(|field| field.name.is_none() && field.bits.is_some())
            };
            while is_unnamed(number) {
                number += 1;
            }
        }
        number
    }

    fn is_union(&self, ty: QualType) -> bool {
        matches!(self.unit.types.get(ty), Type::Record(id) if self.unit.types.records[*id].is_union)
    }

    /// Sets the parts of a struct, union or array from a list. Without braces of its own it takes what it needs.
    /// `first` is a value whose designators begin in this part. Returns the number of elements that an array got.
    fn init_parts(
        &mut self,
        values: &mut Values,
        whole: &Part,
        rest: &mut Rest,
        mut first: Option<RawItem>,
        is_braced: bool,
    ) -> u64 {
        let (mut next, mut length) = (0, 0);
        let limit = self.n_elements(whole.ty);
        loop {
            let item = match first.take() {
                Some(item) => item,
                None if rest.front().is_some_and(|item| is_braced || item.designators.is_empty()) => {
                    let is_full = limit.is_some_and(|limit| next >= limit);
                    let is_designated = rest.front().is_some_and(|item| !item.designators.is_empty());
                    if is_full && !is_designated {
                        self.report_excess(rest, is_braced);
                        return length;
                    }
                    match rest.pop_front() {
                        Some(item) => item,
                        None => return length,
                    }
                }
                None => return length,
            };
            match self.init_next(values, whole, rest, item, next) {
                Some(last) => next = last,
                None => return length,
            }
            length = length.max(next);
            if self.is_union(whole.ty) {
                next = u64::MAX;
            }
        }
    }

    fn report_excess(&mut self, rest: &mut Rest, is_braced: bool) {
        if !is_braced {
            return;
        }
        if let Some(item) = rest.front() {
            let loc = item.value.loc();
            self.error(Code::CInitialiser, "there are more values than parts", loc);
        }
        rest.clear();
    }

    /// Sets the part that an item is for, by its designator or else by its position. Returns the next position.
    fn init_next(
        &mut self,
        values: &mut Values,
        whole: &Part,
        rest: &mut Rest,
        mut item: RawItem,
        next: u64,
    ) -> Option<u64> {
        if item.designators.is_empty() {
            let number = self.skip_unnamed(whole.ty, next);
            let Some(part) = self.element_of(whole, number) else {
                let loc = item.value.loc();
                self.error(Code::CInitialiser, "there are more values than parts", loc);
                return None;
            };
            self.activate(values, whole, number);
            self.init_element(values, &part, rest, item);
            return Some(number + 1);
        }
        let designator = item.designators.remove(0);
        let (from, to) = self.designated(whole.ty, designator, &mut item.designators)?;
        if from < to && !self.may_repeat(&item.value) {
            let loc = item.value.loc();
            self.error(Code::CUnsupported, "a value that is not constant for several elements is not supported", loc);
            return None;
        }
        for number in from..=to {
            if values.items.len() > MAX_ITEMS {
                self.error(Code::BeyondLimit, format!("more than {MAX_ITEMS} initial values"), item.value.loc());
                return None;
            }
            let part = self.element_of(whole, number)?;
            self.activate(values, whole, number);
            match number == to {
                true => self.init_element(values, &part, rest, item.clone()),
                false => self.init_element(values, &part, &mut Rest::new(), item.clone()),
            }
        }
        to.checked_add(1)
    }

    /// Returns whether a value can be copied for several elements.
    fn may_repeat(&self, value: &RawInit) -> bool {
        match value {
            RawInit::Expr(Expr { kind: ExprKind::String(_), .. }) => true,
            RawInit::Expr(expr) => self.unit.fold(expr).is_some(),
            RawInit::List(items, _) => items.iter().all(|item| self.may_repeat(&item.value)),
        }
    }

    /// Returns the first and the last part that a designator names; adds further designators on the way to a member of
    /// an unnamed struct or union.
    fn designated(&mut self, ty: QualType, designator: Designator, more: &mut Vec<Designator>) -> Option<(u64, u64)> {
        match designator {
            Designator::Number(number) => Some((number as u64, number as u64)),
            Designator::Field(name, loc) => {
                let Some(path) = self.find_member(ty, name) else {
                    let message = format!("`{}` has no member `{}`", self.show(ty.plain()), self.text(name));
                    self.error(Code::CNoMember, message, loc);
                    return None;
                };
                more.splice(0..0, path[1..].iter().map(|number| Designator::Number(*number)));
                Some((path[0] as u64, path[0] as u64))
            }
            Designator::Index(first, last, loc) => {
                let limit = self.n_elements(ty).unwrap_or(u64::MAX);
                if !self.unit.types.is_array(ty) || first > last || last >= limit {
                    self.error(Code::CInitialiser, "there is no such element", loc);
                    return None;
                }
                Some((first, last))
            }
        }
    }

    /// Sets an element, whose value may have further designators, or need further values of the list.
    fn init_element(&mut self, values: &mut Values, part: &Part, rest: &mut Rest, item: RawItem) {
        if let (Type::Array(_, Length::Unknown), false) = (self.unit.types.get(part.ty), part.path.is_empty()) {
            let loc = item.value.loc();
            return self.error(Code::CUnsupported, "initial values of a flexible array are not supported", loc);
        }
        if !item.designators.is_empty() {
            let is_whole = matches!(self.unit.types.get(part.ty), Type::Array(..) | Type::Record(_));
            if !is_whole {
                let loc = item.value.loc();
                return self.error(Code::CInitialiser, "this designator names a part of something without parts", loc);
            }
            self.init_parts(values, part, rest, Some(item), false);
            return;
        }
        if !self.takes_several(part.ty, &item.value) {
            self.init_part(values, part, item.value);
            return;
        }
        if self.n_elements(part.ty) == Some(0) {
            let loc = item.value.loc();
            return self.error(Code::CInitialiser, "this part has no place for a value", loc);
        }
        rest.push_front(item);
        self.init_parts(values, part, rest, None, false);
    }

    /// Returns whether a part without braces takes several values.
    fn takes_several(&self, ty: QualType, value: &RawInit) -> bool {
        let RawInit::Expr(expr) = value else { return false };
        match self.unit.types.get(ty) {
            Type::Array(..) => {
                self.string_for(ty, value).is_none() && !matches!(expr.kind, ExprKind::CompoundLiteral(_))
            }
            Type::Record(_) => expr.ty.id != ty.id && !self.unit.types.is_error(expr.ty),
            _ => false,
        }
    }

    /// Forgets the values of the other members of a union.
    fn activate(&mut self, values: &mut Values, whole: &Part, number: u64) {
        if !self.is_union(whole.ty) {
            return;
        }
        let depth = whole.path.len();
        let active = PathStep::Field(usize::try_from(number).unwrap_or(usize::MAX));
        self.forget(values, whole, |item| item.path.get(depth) != Some(&active));
    }

    /// Forgets the values of a part that a test accepts. A list in braces replaces everything in its part.
    fn forget(&self, values: &mut Values, part: &Part, is_forgotten: impl Fn(&InitItem) -> bool) {
        let Some(layout) = self.unit.types.layout(part.ty) else { return };
        let bits = part.offset * 8..(part.offset + layout.size) * 8;
        let inside = values.parts.range(bits);
        let forgotten: Vec<u64> = inside
            .filter(|(_, (_, item))| values.items[*item].as_ref().is_some_and(&is_forgotten))
            .map(|(start, _)| *start)
            .collect();
        for start in forgotten {
            if let Some((_, item)) = values.parts.remove(&start) {
                values.items[item] = None;
            }
        }
    }

    /// Sets a part to a converted value; forgets the values that it replaces.
    fn set(&mut self, values: &mut Values, part: &Part, value: Expr) {
        let Some(layout) = self.unit.types.layout(part.ty) else { return };
        let (start, length) = match part.bits {
            Some(bits) => (part.offset * 8 + u64::from(bits.shift), u64::from(bits.width)),
            None => (part.offset * 8, layout.size * 8),
        };
        let end = start + length;
        let is_overlapping = |(_, (other_end, _)): &(&u64, &(u64, usize))| *other_end > start;
        let replaced: Vec<u64> = values
            .parts
            .range(..end.max(start + 1))
            .rev()
            .take_while(is_overlapping)
            .map(|(start, _)| *start)
            .collect();
        for other in replaced {
            let Some((other_end, item)) = values.parts.remove(&other) else { continue };
            if other < start || other_end > end {
                let message = "a value for a part of a struct that has a value as a whole is not supported";
                self.error(Code::CUnsupported, message, value.loc);
            }
            values.items[item] = None;
        }
        values.parts.insert(start, (end, values.items.len()));
        let Part { path, offset, bits, ty } = part.clone();
        values.items.push(Some(InitItem { path, offset, bits, ty, value }));
    }
}
