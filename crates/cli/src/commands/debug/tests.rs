//! A recorded session: keys go in, and what the terminal shows is kept.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use selvedge_check::{Outcome, Question, Run, Subject, Task};
use selvedge_driver::{Options, check, possible_steps};
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_ir::trace::Step;
use selvedge_replay::Interpreter;
use selvedge_report::session::Session;
use selvedge_report::{Context, Execution, Source};

use super::app::{App, Break, Key, Next};
use super::draw::draw;
use super::terminal::key_of;
use super::violation;

const LOCK: &str = include_str!("../../../../../examples/lock.bp");

/// Returns what the terminal shows.
fn screen(app: &App<'_, '_>) -> String {
    let mut terminal = Terminal::new(TestBackend::new(110, 34)).expect("memory takes everything");
    terminal.draw(|frame| draw(app, frame)).expect("memory takes everything");
    let cells = terminal.backend().buffer().content().chunks(110);
    let row = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>().trim_end().to_string() + "\n";
    cells.map(row).collect()
}

/// `→`, `←`, `⏎` and letters.
fn press(app: &mut App<'_, '_>, keys: &str) {
    for key in keys.chars() {
        let key = match key {
            '→' => Key::Right,
            '←' => Key::Left,
            '↓' => Key::Down,
            '⏎' => Key::Enter,
            '⇤' => Key::Home,
            '⇥' => Key::End,
            char => Key::Char(char),
        };
        assert_eq!(app.press(key), Next::Stay);
    }
}

fn with_lock(walk: impl FnOnce(&mut Session<'_>, &Task<'_>)) {
    let loaded = load(LOCK, &LoadOptions::default());
    let program = loaded.program.expect("the example has no errors");
    let subject = Subject { program: &program, map: &loaded.source_map, text: LOCK };
    let options =
        Options { jobs: 1, question: Question { threads: Some(3), ..Question::default() }, ..Options::default() };
    let report = check(subject, &options, &Run::unlimited()).expect("the question fits");
    let Outcome::Unsafe(found) = &report.outcome else { panic!("the example is unsafe") };
    let source = Source::new("lock.bp", LOCK);
    let context = Context { program: &report.model.program, map: &loaded.source_map, source: &source };
    let task = report.model.task();
    walk(&mut Session::of(context, &task, found), &task);
}

#[test]
fn a_session_with_stops_watches_and_steps_both_ways() {
    with_lock(|session, _| {
        let mut app = App::new(session);
        let mut record = format!("start\n{}", screen(&app));
        for keys in ["→→", "wlock⏎", "⇥", "S", "vlock⏎⇤c", "block = 1⏎⇥R", "g3⏎?", "q"] {
            if keys == "q" {
                assert_eq!(app.press(Key::Char('q')), Next::Quit);
                break;
            }
            press(&mut app, keys);
            record.push_str(&format!("\nkeys {keys}\n{}", screen(&app)));
        }
        insta::assert_snapshot!("session", record);
    });
}

#[test]
fn a_text_is_found_in_later_steps() {
    with_lock(|session, _| {
        let mut app = App::new(session);
        press(&mut app, "/assert⏎");
        let first = app.at;
        assert!(first > 0 && app.session.told(first).is_some_and(|told| told.text.contains("assert")));
        press(&mut app, "/⏎");
        assert!(app.at > first, "{}", app.at);
        let second = app.at;
        press(&mut app, "F");
        assert_eq!(app.at, first);
        press(&mut app, "f");
        assert_eq!(app.at, second);
        press(&mut app, "/nowhere⏎");
        assert_eq!(app.message, "no later step has nowhere");
        press(&mut app, "F");
        assert_eq!((app.at, app.message.as_str()), (second, "no earlier step has nowhere"));
    });
}

#[test]
fn stops_and_watches_are_removed_one_by_one() {
    with_lock(|session, _| {
        let mut app = App::new(session);
        press(&mut app, "b14⏎block = 1⏎b15⏎");
        assert_eq!(app.breaks.iter().map(Break::text).collect::<Vec<_>>(), ["line 14", "where lock = 1", "line 15"]);
        press(&mut app, "x");
        let asked = "remove which stop (1 line 14, 2 where lock = 1, 3 line 15): _";
        assert!(screen(&app).contains(asked), "{}", screen(&app));
        press(&mut app, "2⏎");
        assert_eq!(app.breaks, [Break::Line(14), Break::Line(15)]);
        press(&mut app, "x7⏎");
        assert_eq!((app.breaks.len(), app.message.as_str()), (2, "there is no number 7"));
        press(&mut app, "x1⏎x");
        assert_eq!(app.breaks, [], "the last one needs no number");
        press(&mut app, "x");
        assert_eq!(app.message, "there is nothing to remove");
        press(&mut app, "b14⏎b15⏎X");
        assert_eq!(app.breaks, []);
        press(&mut app, "wlock⏎w!inside⏎W1⏎");
        assert_eq!(app.watches.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["!inside"]);
    });
}

#[test]
fn what_is_not_in_the_program_is_refused() {
    with_lock(|session, _| {
        let mut app = App::new(session);
        let mut refused = |keys: &str, message: &str| {
            press(&mut app, keys);
            assert_eq!(app.message, message, "{keys}");
        };
        refused("wlokc⏎", "there is no variable `lokc`: did you mean `lock`?");
        refused("blokc = 1⏎", "there is no variable `lokc`: did you mean `lock`?");
        refused("b99⏎", "no statement begins on line 99");
        refused("vnothing⏎", "there is no variable `nothing`");
        refused("vlock & lock⏎", "`lock & lock` is not a variable");
        refused("wlock⏎", "");
        assert_eq!((app.watches.len(), app.breaks.len(), app.variable.is_none()), (1, 0, true));
    });
}

#[test]
fn escape_asks_before_it_quits() {
    with_lock(|session, _| {
        let mut app = App::new(session);
        assert_eq!(app.press(Key::Escape), Next::Stay);
        assert!(screen(&app).contains("quit? y or n"));
        press(&mut app, "n");
        assert!(app.asking.is_none());
        press(&mut app, "→");
        assert_eq!(app.at, 1);
        assert_eq!(app.press(Key::Escape), Next::Stay);
        assert_eq!(app.press(Key::Escape), Next::Stay);
        assert_eq!(app.press(Key::Escape), Next::Stay);
        assert_eq!(app.press(Key::Char('y')), Next::Quit);
    });
}

#[test]
fn forwards_and_backwards_visit_the_same_positions() {
    with_lock(|session, _| {
        let mut app = App::new(session);
        let last = app.session.len();
        for position in 1..=last {
            press(&mut app, "→");
            assert_eq!(app.at, position);
        }
        press(&mut app, "→");
        assert_eq!((app.at, app.message.as_str()), (last, "nothing there"));
        for position in (0..last).rev() {
            press(&mut app, "←");
            assert_eq!(app.at, position);
        }
    });
}

#[test]
fn steps_by_hand_are_steps_of_the_interpreter_and_can_be_taken_back() {
    with_lock(|session, task| {
        let interpreter = Interpreter::new(task.program, task.threads);
        let start = session.state(0).clone();
        let execution = Execution { steps: &[], start: &start, states: &[], violation: None, irrelevant: None };
        let mut made = Session::new(session.context, &execution);
        let steps = |walk: &Session<'_>| possible_steps(task, walk.state(walk.len()), 50);
        let judge = |step: &Step, outcome: &selvedge_replay::Outcome| violation(task, step, outcome);
        let mut app = App::by_hand(&mut made, &steps, &judge);
        let mut state = start.clone();
        for _ in 0..4 {
            assert!(!app.choices.is_empty());
            press(&mut app, "↓");
            let (step, _) = app.choices[app.cursor].clone();
            press(&mut app, "⏎");
            let selvedge_replay::Outcome::Next(next) = interpreter.step(&state, &step).expect("it is a step") else {
                panic!("the first steps fail no assertion")
            };
            state = next;
            assert_eq!(*app.session.state(app.at), state);
        }
        press(&mut app, "uuuu");
        assert_eq!((app.at, app.session.len()), (0, 0));
        assert_eq!(*app.session.state(0), start);
    });
}

#[test]
fn keys_of_the_terminal_have_their_meaning_and_control_c_quits() {
    let plain = |code| key_of(KeyEvent::new(code, KeyModifiers::NONE));
    assert_eq!(plain(KeyCode::Right), Some(Key::Right));
    assert_eq!(plain(KeyCode::Esc), Some(Key::Escape));
    assert_eq!(plain(KeyCode::Char('ä')), Some(Key::Char('ä')));
    assert_eq!(plain(KeyCode::F(1)), None);
    assert_eq!(key_of(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Key::Interrupt));
    with_lock(|session, _| {
        let mut app = App::new(session);
        press(&mut app, "wlo");
        assert_eq!(app.press(Key::Interrupt), Next::Quit);
    });
}
