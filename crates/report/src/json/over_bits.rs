//! Certificates about programs with machine integers: a program over bits, in the text form of the representation, what
//! it has to do with the program, and a certificate about it.

use selvedge_check::BitProof;
use selvedge_ir::bits::{BitChoice, BitMap, Code, Range, RangeMap, Rest, Width};
use selvedge_ir::validate::validate;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Expr, Program, Ty, VarId, text};
use serde::{Deserialize, Serialize};

use super::certificate::ProofView;
use super::trace::{ReadError, mismatch};

/// A program over bits, and a certificate about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverBitsView {
    /// The program over bits, whose locations and edges have the same numbers.
    pub bits: String,
    /// For each variable, the variables over bits that stand for it.
    pub codes: Vec<CodeView>,
    /// For each procedure and each of its results, the bits that stand for it.
    pub results: Vec<Vec<WidthView>>,
    /// For each edge, each of its choices and each bit of it, the choice over bits; null if it makes no difference.
    pub choices: Vec<Vec<Vec<Option<u32>>>>,
    /// The same for the initial values of shared variables.
    pub init: Vec<Vec<Option<u32>>>,
    /// The same for each kind of initial thread.
    pub entries: Vec<Vec<Vec<Option<u32>>>>,
    /// The values that variables may have.
    pub ranges: RangesView,
    /// The certificate about the program over bits.
    pub proof: Box<ProofView>,
}

/// The values that variables may have, each as `never`, `0 1 5` or `0..90`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangesView {
    /// For each variable.
    pub variables: Vec<String>,
    /// For each location the variables and their values; null if it is never reached.
    pub locations: Vec<Option<Vec<(u32, String)>>>,
    /// For each procedure and each of its results.
    pub results: Vec<Vec<String>>,
}

fn range_view(range: &Range) -> String {
    match range {
        Range::Never => "never".to_string(),
        Range::Values(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Range::Interval(least, greatest) => format!("{least}..{greatest}"),
    }
}

fn range(view: &str) -> Option<Range> {
    if view == "never" {
        return Some(Range::Never);
    }
    match view.split_once("..") {
        Some((least, greatest)) => Some(Range::Interval(least.parse().ok()?, greatest.parse().ok()?)),
        None => view.split(' ').map(|value| value.parse().ok()).collect::<Option<_>>().map(Range::Values),
    }
}

impl RangesView {
    fn new(map: &RangeMap) -> RangesView {
        let of_loc = |(var, range): &(VarId, Range)| (var.index() as u32, range_view(range));
        let of_locs =
            |ranges: &Option<Vec<(VarId, Range)>>| ranges.as_ref().map(|all| all.iter().map(of_loc).collect());
        RangesView {
            variables: map.vars.iter().map(range_view).collect(),
            locations: map.locs.iter().map(of_locs).collect(),
            results: map.results.iter().map(|ranges| ranges.iter().map(range_view).collect()).collect(),
        }
    }

    /// The ranges; `None` if one of them cannot be read.
    fn map(&self) -> Option<RangeMap> {
        let of_loc = |(var, view): &(u32, String)| Some((VarId::new(*var as usize), range(view)?));
        let of_locs = |views: &Option<Vec<(u32, String)>>| match views {
            Some(views) => views.iter().map(of_loc).collect::<Option<Vec<_>>>().map(Some),
            None => Some(None),
        };
        let list = |views: &Vec<String>| views.iter().map(|view| range(view)).collect::<Option<Vec<_>>>();
        Some(RangeMap {
            vars: list(&self.variables)?.into_iter().collect(),
            locs: self.locations.iter().map(of_locs).collect::<Option<_>>()?,
            results: self.results.iter().map(list).collect::<Option<_>>()?,
        })
    }
}

/// The variables over bits that stand for a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeView {
    /// One for each of the lowest bits, the lowest first.
    pub bits: Vec<u32>,
    /// The number whose bits are above them; null if these are copies of the highest one.
    pub rest: Option<u64>,
}

/// The bits that stand for a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidthView {
    /// The number of the lowest bits that make it, with the rest.
    pub bits: u32,
    /// The number of bits that are returned.
    pub returned: u32,
    /// The number whose bits are above them; null if these are copies of the highest one.
    pub rest: Option<u64>,
}

fn rest_view(rest: Rest) -> Option<u64> {
    match rest {
        Rest::Constant(rest) => Some(rest),
        Rest::Sign => None,
    }
}

fn rest(view: Option<u64>) -> Rest {
    view.map_or(Rest::Sign, Rest::Constant)
}

fn choice_views(choices: &[BitChoice]) -> Vec<Vec<Option<u32>>> {
    choices.iter().map(|choice| choice.bits.clone()).collect()
}

/// The choices of these types.
fn choices(views: &[Vec<Option<u32>>], types: Vec<Ty>) -> Vec<BitChoice> {
    let types = types.into_iter().chain(std::iter::repeat(Ty::Bool));
    views.iter().zip(types).map(|(bits, ty)| BitChoice { ty, bits: bits.clone() }).collect()
}

impl OverBitsView {
    pub(super) fn new(proof: &BitProof) -> OverBitsView {
        let code = |code: &Code| CodeView {
            bits: code.bits.iter().map(|bit| bit.index() as u32).collect(),
            rest: rest_view(code.rest),
        };
        let width =
            |width: &Width| WidthView { bits: width.n_bits, returned: width.returned, rest: rest_view(width.rest) };
        OverBitsView {
            bits: text::print(&proof.program),
            codes: proof.map.vars.iter().map(code).collect(),
            results: proof.map.results.iter().map(|widths| widths.iter().map(width).collect()).collect(),
            choices: proof.map.edges.iter().map(|choices| choice_views(choices)).collect(),
            init: choice_views(&proof.map.init),
            entries: proof.map.entries.iter().map(|choices| choice_views(choices)).collect(),
            ranges: RangesView::new(&proof.map.ranges),
            proof: Box::new(ProofView::new(&proof.program, &proof.certificate)),
        }
    }

    /// The proof, for a program whose parts have these types. The judge compares the rest with the program.
    pub(super) fn proof(&self, program: &Program) -> Result<BitProof, ReadError> {
        let wrong = |message: String| mismatch("program over bits", message);
        let bits = text::parse(&self.bits).map_err(|error| wrong(error.to_string()))?;
        validate(&bits).map_err(|invalid| wrong(invalid.first().map(ToString::to_string).unwrap_or_default()))?;
        let init_types = |init: &[(VarId, Expr)]| choice_types(init.iter().map(|(_, rhs)| rhs));
        let var_types = program.vars.iter().map(|var| var.ty).chain(std::iter::repeat(Ty::Bool));
        let code = |(view, ty): (&CodeView, Ty)| Code {
            ty,
            bits: view.bits.iter().map(|bit| VarId::new(*bit as usize)).collect(),
            rest: rest(view.rest),
        };
        let width = |(view, ty): (&WidthView, &Ty)| Width {
            ty: *ty,
            n_bits: view.bits,
            returned: view.returned,
            rest: rest(view.rest),
        };
        let results = self.results.iter().zip(&program.procs);
        let map = BitMap {
            vars: self.codes.iter().zip(var_types).map(code).collect(),
            results: results.map(|(views, proc)| views.iter().zip(&proc.results).map(width).collect()).collect(),
            edges: self
                .choices
                .iter()
                .zip(&program.edges)
                .map(|(views, edge)| choices(views, edge.op.choices()))
                .collect(),
            init: choices(&self.init, init_types(&program.init)),
            entries: self
                .entries
                .iter()
                .zip(&program.entries)
                .map(|(views, entry)| choices(views, init_types(&entry.init)))
                .collect(),
            ranges: self.ranges.map().ok_or_else(|| wrong("a range cannot be read".to_string()))?,
        };
        let certificate = self.proof.certificate(&bits)?;
        Ok(BitProof { program: bits, map, certificate })
    }
}

#[cfg(test)]
mod tests {
    use selvedge_check::{Certificate, Paths};
    use selvedge_ir::passes::blast;

    use super::*;

    const PROGRAM: &str = "shared x: i32, b: bool, u: u64\ninit x := ?0:i32, b := F, u := 18446744073709551615:u64\n\
        proc f() from L0 to L3\nlocal i: u8\nL0 -> L1: i := call g(x)\nL1 -> L2: b := ?1 constrain u8.lt(i, ?0:u8)\n\
        L2 -> L3: return\nproc g(p: i32) returns u8 from L4 to L5\nL4 -> L5: return i32.u8(i32.rem(p, 5:i32))\nstart f";

    #[test]
    fn what_is_written_is_read() {
        let program = text::parse(PROGRAM).unwrap();
        let blasted = blast::run(&program).unwrap();
        let certificate = Certificate::Induction { k: 3, paths: Paths::All };
        let proof = BitProof { program: blasted.program, map: blasted.lift.map, certificate };
        let written = serde_json::to_string(&OverBitsView::new(&proof)).unwrap();
        let read: OverBitsView = serde_json::from_str(&written).unwrap();
        assert_eq!(read.proof(&program).unwrap(), proof);
        let nested: ProofView = serde_json::from_str(&format!("{{\"kind\":\"over_bits\",{}", &written[1..])).unwrap();
        assert_eq!(nested.certificate(&program).unwrap(), Certificate::OverBits(Box::new(proof)));
    }

    #[test]
    fn nonsense_is_refused() {
        let program = text::parse(PROGRAM).unwrap();
        let blasted = blast::run(&program).unwrap();
        let certificate = Certificate::ControlFlow(Vec::new());
        let proof = BitProof { program: blasted.program, map: blasted.lift.map, certificate };
        let view = OverBitsView::new(&proof);
        let wrong = OverBitsView { bits: "shared x".to_string(), ..view.clone() };
        assert!(wrong.proof(&program).is_err());
        let wrong = OverBitsView { bits: view.bits.replace("return", "x.0 := 1"), ..view.clone() };
        assert!(wrong.proof(&program).is_err());
        let mut wrong = view;
        wrong.ranges.variables[0] = "0..".to_string();
        assert!(wrong.proof(&program).is_err());
    }
}
