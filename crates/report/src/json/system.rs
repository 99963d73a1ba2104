//! Certificates about pushdown systems as JSON (`docs/schema/system-certificate.schema.json`).
//!
//! States of the automaton and symbols are given by number. The names of the states and symbols are there to notice
//! that a certificate does not belong to a system. Whether it proves anything is for the judge to say.

use selvedge_check::SystemProof;
use selvedge_check::system::{Closure, Transition};
use selvedge_ir::pds::{Pds, SymbolId};
use serde::{Deserialize, Serialize};

use super::trace::{ReadError, digest, mismatch};
use super::{GENERATOR, VERSION, read};
use crate::Source;

const FORMAT: &str = "selvedge-system-certificate";

/// A certificate file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCertificateFile {
    /// Always `selvedge-system-certificate`.
    pub format: String,
    pub version: u32,
    #[serde(default)]
    pub generator: String,
    pub system: SystemNames,
    /// The targets that cannot be reached, as they are written in a `.pds` file.
    pub targets: Vec<String>,
    pub proof: AutomatonView,
}

/// The system that a certificate belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemNames {
    pub file: String,
    /// See [`digest`].
    pub digest: String,
    /// The control states, which are the first states of the automaton.
    pub states: Vec<String>,
    pub symbols: Vec<String>,
}

/// The automaton.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutomatonView {
    pub kind: AutomatonWord,
    pub closure: ClosureWord,
    /// The number of states of the automaton.
    pub states: u32,
    #[serde(rename = "final")]
    pub finals: Vec<u32>,
    /// From, symbol or null, to.
    pub transitions: Vec<(u32, Option<u32>, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutomatonWord {
    Automaton,
}

/// Under what the accepted set is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClosureWord {
    Successors,
    Predecessors,
}

/// Reads a certificate file; [`SystemCertificateFile::proof`] then fits it to a system.
pub fn read_system_certificate(text: &str) -> Result<SystemCertificateFile, ReadError> {
    read(text, FORMAT)
}

impl SystemCertificateFile {
    /// Writes down a proof about the targets of a system that was read from a text.
    pub fn new(source: &Source, pds: &Pds, proof: &SystemProof) -> SystemCertificateFile {
        let transition = |step: &Transition| (step.from, step.read.map(SymbolId::raw), step.to);
        SystemCertificateFile {
            format: FORMAT.to_string(),
            version: VERSION,
            generator: GENERATOR.to_string(),
            system: SystemNames {
                file: source.path.clone(),
                digest: digest(source.text()),
                states: pds.states.iter().cloned().collect(),
                symbols: pds.symbols.iter().cloned().collect(),
            },
            targets: pds.targets.iter().map(|head| pds.show_head(*head)).collect(),
            proof: AutomatonView {
                kind: AutomatonWord::Automaton,
                closure: match proof.closure {
                    Closure::Successors => ClosureWord::Successors,
                    Closure::Predecessors => ClosureWord::Predecessors,
                },
                states: proof.n_nodes,
                finals: proof.finals.clone(),
                transitions: proof.transitions.iter().map(transition).collect(),
            },
        }
    }

    /// The text of the file, on one line.
    pub fn text(&self) -> String {
        super::to_line(self)
    }

    /// The proof, if the certificate speaks of the states and symbols of a system.
    pub fn proof(&self, pds: &Pds) -> Result<SystemProof, ReadError> {
        fits("state", &self.system.states, &pds.states)?;
        fits("symbol", &self.system.symbols, &pds.symbols)?;
        let transition = |(from, read, to): &(u32, Option<u32>, u32)| Transition {
            from: *from,
            read: read.map(SymbolId::from_raw),
            to: *to,
        };
        Ok(SystemProof {
            closure: match self.proof.closure {
                ClosureWord::Successors => Closure::Successors,
                ClosureWord::Predecessors => Closure::Predecessors,
            },
            n_nodes: self.proof.states,
            finals: self.proof.finals.clone(),
            transitions: self.proof.transitions.iter().map(transition).collect(),
        })
    }
}

/// Returns whether a list of names is that of the system.
fn fits<'n>(what: &str, names: &[String], known: impl IntoIterator<Item = &'n String>) -> Result<(), ReadError> {
    let known: Vec<&String> = known.into_iter().collect();
    if names.len() != known.len() {
        let message = format!("it speaks of {} {what}s, but the system has {}", names.len(), known.len());
        return Err(mismatch("system", message));
    }
    match names.iter().zip(known).enumerate().find(|(_, (name, known))| name != known) {
        Some((number, (name, known))) => {
            Err(mismatch("system", format!("{what} {number} is `{name}`, but in the system it is `{known}`")))
        }
        None => Ok(()),
    }
}
