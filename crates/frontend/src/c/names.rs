//! Names as numbers: equal texts have equal symbols.

use std::rc::Rc;

use rustc_hash::FxHashMap;

index_vec::define_index_type! {
    /// The number of a text.
    pub struct Symbol = u32;
}

/// All texts of a translation unit.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: index_vec::IndexVec<Symbol, Rc<str>>,
    symbols: FxHashMap<Rc<str>, Symbol>,
}

impl Names {
    /// Returns the symbol of a text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(text) {
            return *symbol;
        }
        let text: Rc<str> = Rc::from(text);
        let symbol = self.texts.push(Rc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// Returns the symbol of a text that has one.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol]
    }
}
