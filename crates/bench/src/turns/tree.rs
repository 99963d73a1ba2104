//! A concurrent binary search tree with a finite heap, after the description of section 7: 72 shared variables, 15
//! procedures, recursion.
//!
//! The heap has 7 nodes with a value and two links of 3 bits each, where 0 is no node; nodes are taken in order and
//! never given back. An inserter goes down recursively, takes the lock where it finds no node, looks again, and links a
//! new node there; then its value must be found. A searcher looks for some value; if it finds a node, the node has it.
//! In the unsafe twin an inserter does not look again, so that what another one linked in between is lost.

use std::fmt::Write as _;

use super::Twin;
use crate::concurrent::number::Number;

/// The number of nodes of the heap.
const NODES: usize = 7;

pub(super) fn tree(n_inserters: usize, n_searchers: usize, twin: Twin) -> String {
    let mut text = "shared decl lock := 0, full := 0, wrong := 0;\n".to_string();
    for name in ["root", "next"] {
        let _ = writeln!(text, "shared decl {};", number(name).declared(usize::from(name == "next")));
    }
    for node in 1..=NODES {
        for field in ["v", "l", "r"] {
            let _ = writeln!(text, "shared decl {};", number(&format!("{field}{node}_")).declared(0));
        }
    }
    for (name, field) in [("value", "v"), ("left", "l"), ("right", "r")] {
        text += &reader(name, field);
        text += &writer(name, field);
    }
    text += &heap();
    text += &search();
    text += &insert(twin);
    let _ = write!(
        text,
        "\nprocess inserter [{n_inserters}] begin\n  void main() begin\n    decl {v}, found, done;\n    done := \
         insert({v});\n    if done then\n      found := search({v});\n      assert(found);\n    fi;\n  end\nend\n",
        v = list("v"),
    );
    if n_searchers > 0 {
        let _ = write!(
            text,
            "\nprocess searcher [{n_searchers}] begin\n  void main() begin\n    decl {v}, found;\n    found := \
             search({v});\n  end\nend\n",
            v = list("v"),
        );
    }
    text
}

/// Returns the number in variables with a prefix: a node, or a value.
fn number(prefix: &str) -> Number {
    Number::up_to(prefix, NODES)
}

fn list(prefix: &str) -> String {
    number(prefix).list()
}

/// Returns the condition that a number has this value.
fn is(prefix: &str, value: usize) -> String {
    number(prefix).is(value)
}

/// Generates a procedure that reads a field of a node.
fn reader(name: &str, field: &str) -> String {
    let mut text = format!("\nbool<3> get_{name}({}) begin\n", list("p"));
    for node in 1..=NODES {
        let _ = writeln!(text, "  if {} then return {}; fi;", is("p", node), list(&format!("{field}{node}_")));
    }
    text + "  return 0, 0, 0;\nend\n"
}

/// Generates a procedure that writes a field of a node.
fn writer(name: &str, field: &str) -> String {
    let mut text = format!("\nvoid set_{name}({}, {}) begin\n", list("p"), list("x"));
    for node in 1..=NODES {
        let _ =
            writeln!(text, "  if {} then {} := {}; fi;", is("p", node), list(&format!("{field}{node}_")), list("x"));
    }
    text + "end\n"
}

/// Generates the lock, and the allocation of the next free node.
fn heap() -> String {
    format!(
        "
void acquire() begin
  lock := 1 constrain !lock;
end

void release() begin
  lock := 0;
end

bool<3> allocate({v}) begin
  decl {n};
  if {none} then
    full := 1;
    return 0, 0, 0;
  fi;
  {n} := {next};
  {next} := !next0, next1 ^ next0, next2 ^ (next1 & next0);
  set_value({n}, {v});
  set_left({n}, 0, 0, 0);
  set_right({n}, 0, 0, 0);
  return {n};
end
",
        v = list("v"),
        n = list("n"),
        next = list("next"),
        none = is("next", 0),
    )
}

/// Generates the recursive search for a value.
fn search() -> String {
    format!(
        "
bool search_below({p}, {v}) begin
  decl {w}, {q}, found;
  if {none} then return 0; fi;
  {w} := get_value({p});
  if {same} then return 1; fi;
  if {less} then
    {q} := get_left({p});
  else
    {q} := get_right({p});
  fi;
  found := search_below({q}, {v});
  return found;
end

bool search({v}) begin
  decl {q}, found;
  {q} := {root};
  found := search_below({q}, {v});
  return found;
end
",
        p = list("p"),
        v = list("v"),
        w = list("w"),
        q = list("q"),
        root = list("root"),
        none = is("p", 0),
        same = number("v").equals(&number("w")),
        less = number("v").less(&number("w")),
    )
}

/// Generates the recursive insertion of a value, which returns whether there was a free node.
fn insert(twin: Twin) -> String {
    let again = |look: &str, retry: &str| match twin {
        Twin::Safe => format!("    {} := {look};\n    if !{} then release(); {retry} fi;\n", list("q"), is("q", 0)),
        Twin::Unsafe => String::new(),
    };
    let side = |name: &str| {
        let get = format!("get_{name}({})", list("p"));
        format!(
            "    {q} := {get};\n    if !{none} then\n      done := insert_below({q}, {v});\n      return done;\n    \
             fi;\n    acquire();\n{again}    {n} := allocate({v});\n    set_{name}({p}, {n});\n    release();\n    \
             return !{failed};\n",
            q = list("q"),
            p = list("p"),
            v = list("v"),
            n = list("n"),
            none = is("q", 0),
            failed = is("n", 0),
            again = again(&get, &format!("done := insert_below({}, {}); return done;", list("q"), list("v"))),
        )
    };
    format!(
        "
bool insert_below({p}, {v}) begin
  decl {w}, {q}, {n}, done;
  {w} := get_value({p});
  if {same} then return 1; fi;
  if {less} then
{left}  else
{right}  fi;
end

bool insert({v}) begin
  decl {q}, {n}, done;
  {q} := {root};
  if !{none} then
    done := insert_below({q}, {v});
    return done;
  fi;
  acquire();
{again}  {n} := allocate({v});
  {root} := {n};
  release();
  return !{failed};
end
",
        p = list("p"),
        v = list("v"),
        w = list("w"),
        q = list("q"),
        n = list("n"),
        root = list("root"),
        same = number("v").equals(&number("w")),
        less = number("v").less(&number("w")),
        left = side("left"),
        right = side("right"),
        none = is("q", 0),
        failed = is("n", 0),
        again = again(&list("root"), &format!("done := insert_below({}, {}); return done;", list("q"), list("v"))),
    )
}
