//! Witnesses: whatever the bytes are, a witness is read or refused, in the same way again; one that is read is followed
//! through a program, or written into its text, without a panic, and what comes of it is a valid program.

use std::sync::LazyLock;

use selvedge_export::witness::{Content, annotate, follow, read};
use selvedge_frontend::{Context, Language, LoadOptions, Loaded, Source};
use selvedge_ir::validate::validate;

use crate::c::texts;
use crate::harness::{Fault, fault};

/// The program that all witnesses are about.
const PROGRAM: &str = "\
#include <assert.h>
#include <pthread.h>
int turn = 1;
int __VERIFIER_nondet_int(void);
void *worker(void *unused) {
  while (turn < 3) {
    turn++;
  }
  return 0;
}
int main() {
  pthread_t id;
  int number = __VERIFIER_nondet_int();
  pthread_create(&id, 0, worker, 0);
  for (int i = 0; i < 2; i++) {
    if (number > 1)
      turn = 0;
  }
  do { number--; } while (number > 0);
  pthread_join(id, 0);
  assert(turn == 3);
  return 0;
}
";

static SUBJECT: LazyLock<(Source, Loaded)> = LazyLock::new(|| {
    let loaded = Language::C.load(PROGRAM, &LoadOptions::default());
    (Source::new("p.c", PROGRAM), loaded)
});

/// Witnesses of both kinds.
pub fn witness(bytes: &[u8]) -> Result<(), Fault> {
    let given = Source::from_bytes("w.yml", bytes.to_vec());
    let found = read(given.text());
    if found != read(given.text()) {
        return fault("twice", "the same witness is read in two ways");
    }
    let (source, Loaded { program: Some(program), source_map: map, .. }) = &*SUBJECT else {
        return fault("program", "the program is refused");
    };
    let Ok(witness) = found else { return Ok(()) };
    match witness.content {
        Content::Violation(waypoints) => {
            let Ok((product, places)) = follow(Context { program, map, source }, &waypoints) else { return Ok(()) };
            if validate(&product).is_err() {
                return fault("valid", "the program that follows the witness is not valid");
            }
            let sizes = [places.edges.len(), places.vars.len()];
            if sizes != [product.edges.len(), product.vars.len()] {
                return fault("places", "the program that follows the witness has steps or variables without places");
            }
            Ok(())
        }
        Content::Correctness(invariants) => match annotate(source, &invariants) {
            Ok(text) => texts::read(&Source::new("p.c", text)).map(drop),
            Err(_) => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_no_mistake() {
        let (_, loaded) = &*SUBJECT;
        assert!(loaded.program.is_some() && loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    }

    #[test]
    fn places_beyond_all_texts_are_refused() {
        let invariant = |line: usize| {
            format!(
                "- entry_type: invariant_set\n  content:\n  - invariant: {{type: location_invariant, location: \
                 {{line: {line}, column: 1}}, value: 'turn > 0', format: c_expression}}\n"
            )
        };
        for line in [0, 3, 22, 23, usize::MAX - 1, usize::MAX] {
            assert_eq!(witness(invariant(line).as_bytes()), Ok(()), "{line}");
        }
    }
}
