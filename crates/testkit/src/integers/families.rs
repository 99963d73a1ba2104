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

const fn published(
    iterations: u32,
    queries: u32,
    predicates: u32,
    seconds: f64,
    states: (u32, u32),
) -> Option<Published> {
    Some(Published { iterations, queries, predicates, states, seconds })
}

/// Returns all rows, in the order of the figures.
pub fn rows() -> Vec<Row> {
    let mut rows = fixed();
    rows.extend(elevators());
    rows.extend(tickets());
    rows.extend(reached());
    rows.sort_by_key(|row| row.figure);
    rows
}

fn row(name: &str, figure: &'static str, text: &str, ase: Option<Published>, ur: Option<Published>) -> Row {
    let expected = if text.contains("// verdict: unsafe") { Expected::Unsafe } else { Expected::Safe };
    Row { name: name.to_owned(), figure, text: text.to_owned(), expected, ase, ur }
}

macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/programs/gcl/", $name, ".gcl"))
    };
}

fn fixed() -> Vec<Row> {
    vec![
        row("mutex", "1.1", program!("mutex"), None, None),
        row(
            "bakery2",
            "5.1",
            program!("bakery2"),
            published(3, 141, 8, 0.347, (52, 33)),
            published(4, 367, 10, 0.452, (49, 36)),
        ),
        row("RAX", "5.1", program!("rax"), published(1, 6, 2, 0.261, (81, 44)), None),
        row(
            "mesi",
            "5.1",
            program!("mesi"),
            published(16, 6893, 47, 36.61, (18, 18)),
            published(16, 12172, 47, 49.627, (18, 18)),
        ),
        row(
            "berkeley",
            "5.1",
            program!("berkeley"),
            published(11, 3113, 38, 15.729, (13, 12)),
            published(11, 4623, 38, 17.605, (13, 12)),
        ),
        row(
            "b_bakery2-e",
            "5.1",
            program!("b_bakery2-e"),
            published(1, 0, 2, 0.178, (80, 80)),
            published(2, 74, 5, 1.188, (193, 193)),
        ),
        row("peterson2", "5.2", program!("peterson2-nondet"), published(1, 24, 4, 424.0, (700, 38)), None),
        row("bakery2", "5.2", program!("bakery2-nondet"), published(3, 301, 11, 73.965, (807, 50)), None),
        row("mesi", "5.2", program!("mesi-any"), published(2, 260, 13, 3.56, (112, 14)), None),
        row("synapse", "5.2", program!("synapse"), published(2, 62, 7, 0.88, (34, 9)), None),
    ]
}

fn elevators() -> Vec<Row> {
    let ase = [
        published(1, 418, 13, 1.013, (468, 378)),
        published(1, 1169, 15, 3.459, (1256, 910)),
        published(1, 3156, 17, 12.275, (3248, 2126)),
        published(1, 7116, 19, 40.867, (8160, 4862)),
        published(1, 15036, 21, 185.717, (15200, 9422)),
    ];
    let ur = [
        published(4, 5789, 19, 8.146, (468, 456)),
        published(5, 26252, 23, 44.0, (1253, 1204)),
        published(6, 105_830, 27, 220.633, (3224, 3060)),
        None,
        None,
    ];
    let numbers = (4..=8).zip(ase).zip(ur);
    numbers.map(|((floors, ase), ur)| row(&format!("elev{floors}"), "5.1", &elevator(floors), ase, ur)).collect()
}

fn tickets() -> Vec<Row> {
    let shown = [
        (published(4, 135, 8, 0.609, (22, 9)), published(4, 120, 8, 0.404, (12, 9))),
        (published(5, 672, 14, 1.413, (182, 31)), published(5, 661, 14, 0.923, (41, 31))),
        (published(6, 4088, 23, 33.51, (5011, 129)), published(6, 4061, 23, 5.143, (170, 129))),
    ];
    let safe = (2..=4).zip(shown).map(|(processes, (ase, ur))| {
        row(&format!("ticket{processes}"), "5.1", &ticket(processes, Ticket::default()), ase, ur)
    });
    let torn = Ticket { torn: true, ..Ticket::default() };
    let any = Ticket { any: true, ..Ticket::default() };
    let torn_any = Ticket { torn: true, any: true, ..Ticket::default() };
    let others = [
        row(
            "ticket2-e",
            "5.1",
            &ticket(2, torn),
            published(1, 0, 2, 0.073, (12, 9)),
            published(2, 11, 5, 0.155, (26, 17)),
        ),
        row("ticket2", "5.2", &ticket(2, any), published(4, 523, 12, 281.134, (5516, 62)), None),
        row("ticket2-e", "5.2", &ticket(2, torn_any), published(1, 0, 2, 0.104, (12, 10)), None),
        row("ticket3-e", "5.2", &ticket(3, torn_any), published(1, 0, 3, 0.112, (10, 10)), None),
    ];
    safe.chain(others).collect()
}

fn reached() -> Vec<Row> {
    let tickets = [
        (published(1, 0, 3, 0.058, (14, 12)), published(3, 145, 14, 0.341, (93, 81))),
        (published(3, 152, 14, 0.525, (30, 27)), published(8, 1218, 21, 2.229, (302, 240))),
        (published(8, 1225, 21, 3.107, (47, 44)), published(13, 2090, 26, 5.15, (507, 395))),
        (published(13, 2500, 26, 6.869, (62, 59)), published(18, 3918, 31, 9.501, (712, 550))),
        (published(18, 3925, 31, 13.038, (77, 74)), published(23, 5493, 36, 15.821, (917, 705))),
        (published(23, 5500, 36, 20.762, (92, 89)), published(28, 7219, 41, 34.701, (1112, 860))),
        (published(28, 7225, 41, 46.379, (107, 104)), published(33, 9093, 46, 51.579, (1327, 1015))),
        (published(33, 9100, 46, 71.462, (122, 119)), published(38, 11118, 51, 82.974, (1532, 1170))),
    ];
    let raxes = [
        (published(5, 46, 12, 0.373, (50, 49)), published(5, 123, 20, 0.363, (170, 170))),
        (published(10, 146, 17, 0.988, (90, 89)), published(10, 483, 35, 1.528, (350, 350))),
        (published(15, 296, 22, 2.031, (130, 129)), published(15, 1068, 50, 4.341, (530, 530))),
        (published(20, 496, 27, 3.675, (170, 169)), published(20, 1878, 65, 9.934, (710, 710))),
        (published(25, 746, 32, 6.442, (210, 209)), published(25, 2913, 80, 19.578, (890, 890))),
        (published(30, 1046, 37, 9.94, (250, 249)), published(30, 4173, 95, 35.03, (1070, 1070))),
        (published(35, 1396, 42, 15.155, (290, 289)), published(35, 5658, 110, 57.315, (1250, 1250))),
        (published(40, 1796, 47, 22.104, (320, 319)), published(40, 7368, 125, 89.332, (1430, 1430))),
        (published(45, 2246, 52, 30.821, (370, 369)), published(45, 9303, 140, 133.063, (1610, 1610))),
    ];
    let tickets = tickets.into_iter().zip(1..).map(|((ase, ur), fifth)| {
        let number = 5 * fifth;
        row(
            &format!("ticket3-{number}"),
            "5.1",
            &ticket(3, Ticket { reached: Some(number), ..Ticket::default() }),
            ase,
            ur,
        )
    });
    let raxes = raxes.into_iter().zip(1..).map(|((ase, ur), fifth)| {
        let number = 5 * fifth;
        row(&format!("RAX-{number}"), "5.1", &rax_reaching(number), ase, ur)
    });
    tickets.chain(raxes).collect()
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
