//! What a page offers beside keys: search, folds, watch expressions, lines of the program, the control-flow graph.

use serde_json::{Value as Json, json};

use super::{browse, scratch, selvedge};

/// Makes the page of a check, and evaluates an expression in it.
fn evaluated(name: &str, args: &[&str], code: i32, query: &str) -> Json {
    let page = scratch(name);
    let ended = selvedge(&[&["check", "--html", &page], args].concat());
    assert_eq!(ended, code);
    browse(&json!([{ "page": page, "query": query }]))[0]["query"].clone()
}

#[test]
fn changes_have_a_column_of_their_own_with_their_whole_text() {
    let query = "[...document.querySelectorAll('.row')].filter((row) => +row.dataset.at > 0).map((row) => \
                 [row.querySelector('.what').getBoundingClientRect().width, row.querySelector('.what').title, \
                  spoken(+row.dataset.at)])";
    let rows = evaluated("columns.html", &["examples/bluetooth.bp"], 10, query);
    let rows = rows.as_array().expect("it is a list");
    assert!(rows.len() > 5);
    for row in rows {
        assert!(row[0].as_f64().is_some_and(|width| width > 100.0), "{row}");
        assert_eq!(row[1], row[2], "the tooltip has all changes");
    }
}

#[test]
fn calls_fold_and_the_failing_step_stays() {
    let query = "(() => { go(0); const all = visible.length; fold(); const few = visible.length; \
                 const last = visible[visible.length - 1]; act('step'); const next = at; fold(); \
                 return [all, few, last, run.length, next, calls.size, visible.length]; })()";
    let found = evaluated("folds.html", &["examples/recursion.bp"], 10, query);
    let number = |at: usize| found[at].as_u64().expect("it is a number");
    assert!(number(1) < number(0), "{found}");
    assert_eq!(number(2), number(3), "the last step is in the list");
    assert!(number(5) > 1 && number(4) >= 1);
    assert_eq!(number(6), number(0), "all is unfolded again");
}

#[test]
fn the_search_finds_steps_that_are_not_in_view() {
    let page = scratch("search.html");
    let program = "crates/cli/tests/programs/long.bp";
    let args = ["simulate", "--steps", "10000", "--seed", "1", "--threads", "2", "--html", &page, program];
    assert_eq!(selvedge(&args), 5);
    let query = "(() => { go(0); const text = program.edges[run.steps[9000][1]][2]; searchFor(text); \
                 const expected = run.steps.filter((step) => program.edges[step[1]][2].includes(text)).length; \
                 nextOf((position) => position > 8000 && search.found.has(position)); \
                 return [search.found.size, expected, at > 8000, search.found.has(at), \
                 document.querySelectorAll('.row').length]; })()";
    let result = &browse(&json!([{ "page": page, "query": query }]))[0]["query"];
    assert!(result[0].as_u64() >= result[1].as_u64() && result[1].as_u64() > Some(0), "{result}");
    assert_eq!((&result[2], &result[3]), (&json!(true), &json!(true)));
    assert!(result[4].as_u64() < Some(200), "the list stays short: {result}");
}

#[test]
fn watch_expressions_are_read_and_computed() {
    let query = "(() => { const names = { x: 1, y: 0, n: 7, 'a[1]': 4 }; \
                 const value = (text) => { try { return parseExpression(text)((name) => names[name]); } \
                 catch (error) { return error.message; } }; \
                 return ['x & !y', 'n - 2 * 3 = 1', 'x -> y', 'a[1] <= 4 | F', 'x ? n : 0', '(x', 'n +', 'x y', \
                 'x != y ^ T'].map(value); })()";
    let found = evaluated("watch.html", &["examples/bluetooth.bp"], 10, query);
    let expected = json!([
        1,
        1,
        0,
        1,
        7,
        "`)` expected at the end",
        "the expression is not complete",
        "`y` is not expected here",
        0
    ]);
    assert_eq!(found, expected);
}

#[test]
fn a_watched_expression_follows_the_execution() {
    let query = "(() => { addWatch('p0 & stopping'); addWatch('nowhere'); const values = []; \
                 for (let position = 0; position <= run.length; position++) { \
                   const [p0, stopping] = ['p0', 'stopping'].map((wanted) => \
                     groups(run.state(position))[0].rows.find(([variable]) => variable === wanted)[1]); \
                   values.push([watched(position, watches[0]).value, String(p0 & stopping)]); } \
                 go(run.length); return [values, document.querySelectorAll('#watches li').length, \
                 document.querySelector('#watches .problem').textContent]; })()";
    let found = evaluated("follow.html", &["examples/bluetooth.bp"], 10, query);
    let values = found[0].as_array().expect("it is a list");
    assert!(values.iter().all(|pair| pair[0] == pair[1]), "{values:?}");
    assert!(values.iter().any(|pair| pair[0] == json!("1")) && values.iter().any(|pair| pair[0] == json!("0")));
    assert_eq!((&found[1], &found[2]), (&json!(2), &json!("there is no `nowhere` here")));
}

#[test]
fn a_line_lists_its_steps_and_a_hidden_thread_leaves_the_failing_step() {
    let query = "(() => { const line = program.edges[run.steps[run.length - 1][1]][0]; \
                 document.querySelectorAll('#lines li')[line - 1].click(); \
                 const steps = [...document.querySelectorAll('#line [data-to]')].map((button) => +button.dataset.to); \
                 for (const box of document.querySelectorAll('#threads input')) box.click(); \
                 return [steps, run.length, visible, at]; })()";
    let found = evaluated("line.html", &["examples/bluetooth.bp"], 10, query);
    let length = &found[1];
    assert_eq!(found[0].as_array().and_then(|steps| steps.last()), Some(length), "the line of the failure lists it");
    assert_eq!(found[2], json!([0, length]), "all threads are hidden, and the failing step is not");
}

#[test]
fn processes_of_guarded_commands_have_lanes_and_names() {
    let query = "[run.trace.lanes, run.steps.map((step) => run.name(step[0])), run.ids.length]";
    let found = evaluated("lanes.html", &["examples/bakery_wrap.gcl"], 10, query);
    assert_eq!((&found[0], &found[2]), (&json!(["p", "q"]), &json!(2)));
    let names = found[1].as_array().expect("it is a list");
    for name in ["p", "q"] {
        assert!(names.contains(&json!(name)), "{names:?}");
    }
}

#[test]
fn the_graph_zooms_and_finds_statements_and_its_boxes_are_apart() {
    let query = "(() => { const before = picture.getBoundingClientRect().width / graph.scale; zoom(2); \
                 const twice = picture.getBoundingClientRect().width; find('stopping', 1); zoom(1); \
                 const boxOf = (one) => one.getBoundingClientRect(); \
                 const all = (wanted) => [...document.querySelectorAll(wanted)].map(boxOf); \
                 const [boxes, texts] = [all('#canvas rect.step'), all('#canvas text.label')]; \
                 const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; \
                 const pairs = boxes.filter((a, i) => boxes.some((b, j) => i < j && meet(a, b))).length; \
                 const wide = texts.filter((text, i) => text.width > boxes[i].width).length; \
                 return [Math.abs(twice - 2 * before) < 2, graph.found.length, $('matches').textContent, boxes.length, \
                 pairs, wide, \
                 document.querySelectorAll('#canvas g.path').length]; })()";
    let found = evaluated("graph.html", &["examples/bluetooth.bp"], 10, query);
    assert_eq!(found[0], json!(true), "{found}");
    assert!(found[1].as_u64() >= Some(2) && found[2].as_str().is_some_and(|text| text.starts_with("1 of")), "{found}");
    assert!(found[3].as_u64() > Some(15), "{found}");
    assert_eq!((&found[4], &found[5]), (&json!(0), &json!(0)), "boxes that meet, and texts wider than their boxes");
    assert!(found[6].as_u64() > Some(5), "the path is marked: {found}");
}

#[test]
fn a_proof_says_its_invariants_beside_the_lines_and_how_it_was_made() {
    let query = "[[...document.querySelectorAll('#lines .holds')].map((span) => span.textContent), \
                 document.querySelector('#answer').textContent, document.querySelectorAll('#lines .k-word').length]";
    let found = evaluated("beside.html", &["examples/lock_fixed.bp"], 0, query);
    assert!(found[0].as_array().is_some_and(|texts| texts.len() > 1), "{found}");
    assert!(found[1].as_str().is_some_and(|text| text.contains("selvedge check --html")), "{found}");
    assert!(found[2].as_u64() > Some(5), "reserved words have a colour");
}
