//! The programs of the tables of "Abstract Analysis via Symbolic Executions" (Albarghouthi, 2010), Figs. 1.1, 5.1 and
//! 5.2, written by us after the literature that the thesis cites; the ones without a parameter are in
//! `tests/programs/gcl`.
//!
//! The rows `ticket3-X` and `RAX-X` ask whether X is reached, and the thesis calls that `t`; here the condition says
//! that X is not reached, and the verdict is `unsafe`.

use std::fmt::Write as _;

use crate::corpus::Expected;

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name in the thesis.
    pub name: String,
    /// Its figure.
    pub figure: &'static str,
    /// The program.
    pub text: String,
    /// The correct verdict.
    pub expected: Expected,
    /// The result that the thesis gives for its own tool.
    pub ase: Option<Published>,
    /// The result that the thesis gives for the tool that it compares with.
    pub ur: Option<Published>,
}

/// A published result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    pub iterations: u32,
    pub queries: u32,
    pub predicates: u32,
    /// Concrete or symbolic states, and abstract ones.
    pub states: (u32, u32),
    pub seconds: f64,
}

/// Iterations, queries, predicates, seconds, concrete or symbolic states, abstract states.
type Figures = (u32, u32, u32, f64, u32, u32);

fn published(&(iterations, queries, predicates, seconds, concrete, abstracted): &Figures) -> Published {
    Published { iterations, queries, predicates, states: (concrete, abstracted), seconds }
}

/// Makes a row with the results that the thesis gives for its own tool and for the other one, as far as it does.
fn row(name: &str, figure: &'static str, text: &str, results: &[Figures]) -> Row {
    let expected = if text.contains("// verdict: unsafe") { Expected::Unsafe } else { Expected::Safe };
    let [ase, ur] = [0, 1].map(|column| results.get(column).map(published));
    Row { name: name.to_owned(), figure, text: text.to_owned(), expected, ase, ur }
}

macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/programs/gcl/", $name, ".gcl"))
    };
}

/// Returns all rows, in the order of the figures.
pub fn rows() -> Vec<Row> {
    let plain = Ticket::default();
    let [torn, any] = [Ticket { torn: true, ..plain }, Ticket { any: true, ..plain }];
    let torn_any = Ticket { torn: true, ..any };
    let ticket3 = |number: u32, results: &[Figures]| {
        row(&format!("ticket3-{number}"), "5.1", &ticket(3, Ticket { reached: Some(number), ..plain }), results)
    };
    let rax = |count: u32, results: &[Figures]| row(&format!("RAX-{count}"), "5.1", &rax_reaching(count), results);
    let mut rows = vec![
        row("mutex", "1.1", program!("mutex"), &[]),
        row("bakery2", "5.1", program!("bakery2"), &[(3, 141, 8, 0.347, 52, 33), (4, 367, 10, 0.452, 49, 36)]),
        row("RAX", "5.1", program!("rax"), &[(1, 6, 2, 0.261, 81, 44)]),
        row("mesi", "5.1", program!("mesi"), &[(16, 6893, 47, 36.61, 18, 18), (16, 12172, 47, 49.627, 18, 18)]),
        row("berkeley", "5.1", program!("berkeley"), &[(11, 3113, 38, 15.729, 13, 12), (11, 4623, 38, 17.605, 13, 12)]),
        row("b_bakery2-e", "5.1", program!("b_bakery2-e"), &[(1, 0, 2, 0.178, 80, 80), (2, 74, 5, 1.188, 193, 193)]),
        row("peterson2", "5.2", program!("peterson2-nondet"), &[(1, 24, 4, 424.0, 700, 38)]),
        row("bakery2", "5.2", program!("bakery2-nondet"), &[(3, 301, 11, 73.965, 807, 50)]),
        row("mesi", "5.2", program!("mesi-any"), &[(2, 260, 13, 3.56, 112, 14)]),
        row("synapse", "5.2", program!("synapse"), &[(2, 62, 7, 0.88, 34, 9)]),
        row("elev4", "5.1", &elevator(4), &[(1, 418, 13, 1.013, 468, 378), (4, 5789, 19, 8.146, 468, 456)]),
        row("elev5", "5.1", &elevator(5), &[(1, 1169, 15, 3.459, 1256, 910), (5, 26252, 23, 44.0, 1253, 1204)]),
        row("elev6", "5.1", &elevator(6), &[(1, 3156, 17, 12.275, 3248, 2126), (6, 105_830, 27, 220.633, 3224, 3060)]),
        row("elev7", "5.1", &elevator(7), &[(1, 7116, 19, 40.867, 8160, 4862)]),
        row("elev8", "5.1", &elevator(8), &[(1, 15036, 21, 185.717, 15200, 9422)]),
        row("ticket2", "5.1", &ticket(2, plain), &[(4, 135, 8, 0.609, 22, 9), (4, 120, 8, 0.404, 12, 9)]),
        row("ticket3", "5.1", &ticket(3, plain), &[(5, 672, 14, 1.413, 182, 31), (5, 661, 14, 0.923, 41, 31)]),
        row("ticket4", "5.1", &ticket(4, plain), &[(6, 4088, 23, 33.51, 5011, 129), (6, 4061, 23, 5.143, 170, 129)]),
        row("ticket2-e", "5.1", &ticket(2, torn), &[(1, 0, 2, 0.073, 12, 9), (2, 11, 5, 0.155, 26, 17)]),
        row("ticket2", "5.2", &ticket(2, any), &[(4, 523, 12, 281.134, 5516, 62)]),
        row("ticket2-e", "5.2", &ticket(2, torn_any), &[(1, 0, 2, 0.104, 12, 10)]),
        row("ticket3-e", "5.2", &ticket(3, torn_any), &[(1, 0, 3, 0.112, 10, 10)]),
        ticket3(5, &[(1, 0, 3, 0.058, 14, 12), (3, 145, 14, 0.341, 93, 81)]),
        ticket3(10, &[(3, 152, 14, 0.525, 30, 27), (8, 1218, 21, 2.229, 302, 240)]),
        ticket3(15, &[(8, 1225, 21, 3.107, 47, 44), (13, 2090, 26, 5.15, 507, 395)]),
        ticket3(20, &[(13, 2500, 26, 6.869, 62, 59), (18, 3918, 31, 9.501, 712, 550)]),
        ticket3(25, &[(18, 3925, 31, 13.038, 77, 74), (23, 5493, 36, 15.821, 917, 705)]),
        ticket3(30, &[(23, 5500, 36, 20.762, 92, 89), (28, 7219, 41, 34.701, 1112, 860)]),
        ticket3(35, &[(28, 7225, 41, 46.379, 107, 104), (33, 9093, 46, 51.579, 1327, 1015)]),
        ticket3(40, &[(33, 9100, 46, 71.462, 122, 119), (38, 11118, 51, 82.974, 1532, 1170)]),
        rax(5, &[(5, 46, 12, 0.373, 50, 49), (5, 123, 20, 0.363, 170, 170)]),
        rax(10, &[(10, 146, 17, 0.988, 90, 89), (10, 483, 35, 1.528, 350, 350)]),
        rax(15, &[(15, 296, 22, 2.031, 130, 129), (15, 1068, 50, 4.341, 530, 530)]),
        rax(20, &[(20, 496, 27, 3.675, 170, 169), (20, 1878, 65, 9.934, 710, 710)]),
        rax(25, &[(25, 746, 32, 6.442, 210, 209), (25, 2913, 80, 19.578, 890, 890)]),
        rax(30, &[(30, 1046, 37, 9.94, 250, 249), (30, 4173, 95, 35.03, 1070, 1070)]),
        rax(35, &[(35, 1396, 42, 15.155, 290, 289), (35, 5658, 110, 57.315, 1250, 1250)]),
        rax(40, &[(40, 1796, 47, 22.104, 320, 319), (40, 7368, 125, 89.332, 1430, 1430)]),
        rax(45, &[(45, 2246, 52, 30.821, 370, 369), (45, 9303, 140, 133.063, 1610, 1610)]),
    ];
    rows.sort_by_key(|row| row.figure);
    rows
}

/// The differences of a ticket lock from the plain one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ticket {
    /// The first ticket has an arbitrary number.
    pub any: bool,
    /// A ticket is taken in two steps, between which another process can take the same one.
    pub torn: bool,
    /// The property is that this ticket is never handed out, instead of mutual exclusion.
    pub reached: Option<u32>,
}

/// Generates a ticket lock for some processes.
pub fn ticket(processes: u32, kind: Ticket) -> String {
    let verdict = if kind.torn || kind.reached.is_some() { "unsafe" } else { "safe" };
    let mut text = format!("// A ticket lock for {processes} processes.\n// verdict: {verdict}\n\n");
    text.push_str(match kind.any {
        true => "var next, served: int;\n\ninit next == served;\n",
        false => "var next, served: int = 0;\n",
    });
    let take = match kind.torn {
        false => "  at idle: take: ticket := next, next := next + 1, goto waiting;\n",
        true => "  at idle: read: ticket := next, goto taking;\n  at taking: take: next := next + 1, goto waiting;\n",
    };
    for process in 1..=processes {
        let _ = write!(
            text,
            "\nprocess p{process} {{\n  var ticket: int = 0;\n{take}  at waiting: enter: ticket <= served -> goto \
             critical;\n  at critical: leave: served := served + 1, goto idle;\n}}\n"
        );
    }
    text.push('\n');
    match kind.reached {
        Some(number) => {
            let _ = writeln!(text, "safe never: next != {number};");
        }
        None => {
            for (one, other) in pairs(processes) {
                let _ = writeln!(text, "safe !(p{one} at critical & p{other} at critical);");
            }
        }
    }
    text
}

fn pairs(count: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=count).flat_map(move |one| (one + 1..=count).map(move |other| (one, other)))
}

/// Generates the two tasks with the question whether the first event is signalled this often.
pub fn rax_reaching(count: u32) -> String {
    let text = program!("rax").replace("// verdict: safe", "// verdict: unsafe");
    text.replace("deadlock_free;", &format!("safe never: count1 != {count};"))
}

/// Generates an elevator: every floor has a button and a light that says that the cabin is there; the cabin goes to one
/// floor at a time whose button was pressed. It is never on two floors at once.
pub fn elevator(floors: u32) -> String {
    let mut text = format!("// An elevator between {floors} floors.\n// verdict: safe\n\n");
    text.push_str("var floor, goal: int = 1;\n");
    for floor in 1..=floors {
        let lit = u32::from(floor == 1);
        let _ = writeln!(text, "var light{floor}: 0..1 = {lit};\nvar button{floor}: 0..1 = 0;");
    }
    text.push('\n');
    for floor in 1..=floors {
        let _ = write!(
            text,
            "press{floor}: button{floor} == 0 -> button{floor} := 1;\n\
             choose{floor}: goal == floor & button{floor} == 1 -> goal := {floor}, button{floor} := 0;\n"
        );
        if floor < floors {
            let above = floor + 1;
            let _ = writeln!(
                text,
                "up{floor}: floor == {floor} & goal > floor -> floor := floor + 1, light{floor} := 0, light{above} := \
                 1;"
            );
        }
        if floor > 1 {
            let below = floor - 1;
            let _ = writeln!(
                text,
                "down{floor}: floor == {floor} & goal < floor -> floor := floor - 1, light{floor} := 0, light{below} \
                 := 1;"
            );
        }
    }
    text.push('\n');
    for (one, other) in pairs(floors) {
        let _ = writeln!(text, "safe !(light{one} == 1 & light{other} == 1);");
    }
    text
}
