//! Tokens and the typed tree as text, for people and for tests. The text is the same for the same input.

mod tree;

use super::preprocess::Preprocessed;
use super::tree::{Function, Item, Object, Unit};

pub use tree::{expression, types};

/// Returns the tokens behind the preprocessor. A line of the source begins a line; a space is where there is white
/// space.
pub fn tokens(preprocessed: &Preprocessed) -> String {
    let mut text = String::new();
    for token in &preprocessed.tokens {
        if token.first && !text.is_empty() {
            text.push('\n');
        } else if token.space && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(preprocessed.names.text(token.text));
    }
    text
}

/// Lists the objects and functions of a unit that the user's files declare, with their types and sizes.
pub fn declarations(unit: &Unit) -> String {
    let is_users = |offset: u32| !unit.files.get(unit.files.of(offset)).source.path.starts_with('<');
    let mut text = String::new();
    for item in &unit.items {
        match item {
            Item::Object(id) if is_users(unit.objects[*id].loc.span.start) => {
                text += &object(unit, &unit.objects[*id], "");
            }
            Item::Function(id) if is_users(unit.functions[*id].loc.span.start) => {
                text += &function(unit, &unit.functions[*id]);
                let locals = unit.objects.iter().filter(|object| object.function == Some(*id));
                text += &locals.map(|local| object(unit, local, "  ")).collect::<String>();
            }
            Item::Object(_) | Item::Function(_) => {}
        }
    }
    text
}

fn object(unit: &Unit, object: &Object, indent: &str) -> String {
    let size = match unit.types.layout(object.ty).map(|layout| layout.size) {
        None => "no size".to_owned(),
        Some(1) => "1 byte".to_owned(),
        Some(size) => format!("{size} bytes"),
    };
    let place = unit.files.place(object.loc.span.start);
    format!("{indent}{}: {}, {size}, {place}\n", unit.name(object.name), unit.show_type(object.ty))
}

fn function(unit: &Unit, function: &Function) -> String {
    let place = unit.files.place(function.loc.span.start);
    let body = if function.body.is_some() { "" } else { ", no body" };
    format!("{}: {}{body}, {place}\n", unit.name(function.name), unit.show_type(function.ty))
}
