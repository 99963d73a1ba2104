//! Calls of `sv_turn` in the text of a program.
//!
//! Every edit wraps an expression, so that edits nest as expressions do. At one place, what ends comes before what
//! begins; of what begins, the longer expression comes first, of what ends, the shorter one.

use selvedge_ir::span::{Site, Span, Update};

pub(super) struct Edits<'t> {
    text: &'t str,
    inserted: Vec<Insertion>,
    removed: Vec<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Insertion {
    at: u32,
    begins: bool,
    /// The length of the expression, and the level of the edit among those of the same expression; both count down for
    /// what begins.
    order: (i64, i64),
    text: String,
}

/// The levels of edits of one expression, the outermost last.
const INSIDE: i64 = 0;
const READ: i64 = 1;
const OUTSIDE: i64 = 2;
const OUTERMOST: i64 = 3;

impl<'t> Edits<'t> {
    pub(super) fn new(text: &'t str) -> Edits<'t> {
        Edits { text, inserted: Vec::new(), removed: Vec::new() }
    }

    /// Adds the call with a number at a site.
    pub(super) fn turn(&mut self, number: usize, site: Site) {
        match site {
            Site::Before(span) => self.wrap(span, OUTSIDE, &format!("({{ sv_turn({number}); "), "; })"),
            Site::After(span) => {
                let end = format!("); sv_turn({number}); sv_v; }})");
                self.wrap(span, OUTSIDE, "({ __auto_type sv_v = (", &end);
            }
            Site::Between(update) => self.update(number, update),
            Site::Waking(_) => {}
        }
    }

    /// Writes a read and a write of their own: `x += y` becomes `({ p = &(x); o = *p; b = (y); turn; *p = o + b; })`.
    fn update(&mut self, number: usize, update: Update) {
        let Update { whole, target, operator, value, is_postfix } = update;
        let rest = |by: &str, old: &str| format!("; sv_turn({number}); *sv_p = sv_o {operator} {by};{old} }})");
        self.wrap(whole, INSIDE, "({ __auto_type sv_p = &(", "");
        let read = "); __auto_type sv_o = *sv_p";
        match value {
            Some(value) => {
                self.removed.push(Span { start: target.end, end: value.start });
                self.end(target, OUTERMOST, &format!("{read}; __auto_type sv_b = ("));
                self.end(whole, INSIDE, &format!("){}", rest("sv_b", "")));
            }
            None => {
                self.removed.push(Span { start: whole.start, end: target.start });
                self.removed.push(Span { start: target.end, end: whole.end });
                self.end(target, OUTERMOST, &format!("{read}{}", rest("1", if is_postfix { " sv_o;" } else { "" })));
            }
        }
    }

    /// Lets an expression be evaluated where it stands: compilers do not move what is before a call behind it.
    pub(super) fn read(&mut self, span: Span) {
        self.wrap(span, READ, "({ __auto_type sv_r = (", "); sv_read(); sv_r; })");
    }

    /// Makes a call fail.
    pub(super) fn fail(&mut self, call: Span) {
        self.wrap(call, INSIDE, "(sv_fail(__LINE__), ", ")");
    }

    /// Makes the statement behind a label fail.
    pub(super) fn fail_at_label(&mut self, label: Span) {
        let rest = self.text.get(label.start as usize..).unwrap_or("");
        if let Some(colon) = rest.find(':') {
            let at = label.start + colon as u32 + 1;
            self.end(Span { start: at, end: at }, OUTERMOST, " sv_fail(__LINE__);");
        }
    }

    /// Gives a local without an initial value one, if its declaration ends behind its name.
    pub(super) fn local(&mut self, number: usize, name: &Span) {
        let rest = self.text.get(name.end as usize..).unwrap_or("").trim_start();
        if rest.starts_with([';', ',']) {
            self.end(*name, OUTERMOST, &format!(" = sv_local({number})"));
        }
    }

    fn wrap(&mut self, span: Span, level: i64, before: &str, after: &str) {
        let length = i64::from(span.end) - i64::from(span.start);
        let insertion = Insertion { at: span.start, begins: true, order: (-length, -level), text: before.to_owned() };
        self.inserted.push(insertion);
        self.end(span, level, after);
    }

    fn end(&mut self, span: Span, level: i64, text: &str) {
        let length = i64::from(span.end) - i64::from(span.start);
        self.inserted.push(Insertion { at: span.end, begins: false, order: (length, level), text: text.to_owned() });
    }

    /// Returns the text with all edits.
    pub(super) fn write(mut self) -> String {
        self.inserted.sort();
        let is_removed =
            |at: usize| self.removed.iter().any(|span| (span.start as usize..span.end as usize).contains(&at));
        let mut waiting = self.inserted.iter().peekable();
        let mut written = String::new();
        for (at, char) in self.text.char_indices().chain([(self.text.len(), '\0')]) {
            while let Some(insertion) = waiting.next_if(|insertion| insertion.at as usize <= at) {
                written.push_str(&insertion.text);
            }
            if at < self.text.len() && (char == '\n' || !is_removed(at)) {
                written.push(char);
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, part: &str) -> Span {
        let at = text.find(part).expect("it is there");
        Span::new(at, at + part.len())
    }

    #[test]
    fn edits_of_one_expression_nest() {
        let text = "a[i]++;";
        let (whole, target) = (span(text, "a[i]++"), span(text, "a[i]"));
        let mut edits = Edits::new(text);
        edits.turn(0, Site::Before(span(text, "i")));
        edits.turn(1, Site::Between(Update { whole, target, operator: "+", value: None, is_postfix: true }));
        edits.turn(2, Site::Before(whole));
        assert_eq!(
            edits.write(),
            "({ sv_turn(2); ({ __auto_type sv_p = &(a[({ sv_turn(0); i; })]); __auto_type sv_o = *sv_p; sv_turn(1); \
             *sv_p = sv_o + 1; sv_o; }); });"
        );
    }

    #[test]
    fn an_operand_is_evaluated_between_the_read_and_the_write() {
        let text = "x -= y";
        let (whole, target, value) = (span(text, "x -= y"), span(text, "x"), span(text, "y"));
        let mut edits = Edits::new(text);
        edits.turn(3, Site::Between(Update { whole, target, operator: "-", value: Some(value), is_postfix: false }));
        edits.turn(4, Site::After(value));
        assert_eq!(
            edits.write(),
            "({ __auto_type sv_p = &(x); __auto_type sv_o = *sv_p; __auto_type sv_b = (({ __auto_type sv_v = (y); \
             sv_turn(4); sv_v; })); sv_turn(3); *sv_p = sv_o - sv_b; })"
        );
    }
}
