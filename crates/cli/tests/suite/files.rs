//! Files that are written as a whole or not at all, files of any bytes, and names that hide something.

use std::fs;
use std::path::PathBuf;

use crate::harness::{command, run, run_with_stdin, scratch};

const SAFE: &str = "decl a;\nvoid main() begin assert(a | !a); end\n";
const UNTIDY: &str = "decl   a;\nvoid main() begin a:=1; assert(a); end\n";

/// Returns an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(scratch(name));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

#[test]
fn an_output_that_is_an_input_or_another_output_is_refused() {
    let folder = folder("files-clash");
    let input = folder.join("a.bp");
    fs::write(&input, SAFE).expect("it can be written");
    fs::create_dir(folder.join("sub")).expect("it can be made");
    let (input, dir) = (input.display(), folder.display());
    let cases = [
        format!("check {input} --html {input}"),
        format!("check {input} --certificate {dir}/sub/../a.bp"),
        format!("check {input} --html {dir}/x --certificate {dir}/sub/../x"),
        format!("simulate {input} --trace-out {input}"),
        format!("convert {input} --to pds -o {input}"),
        format!("sequentialize {input} --contexts 2 -o {dir}/./a.bp"),
    ];
    for words in cases {
        let ran = run(&words);
        assert_eq!(ran.code, 1, "{words}: {}", ran.err);
        assert!(ran.err.contains("another"), "{}", ran.err);
    }
    assert_eq!(fs::read_to_string(folder.join("a.bp")).expect("it is there"), SAFE);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_before_the_work() {
    let folder = folder("files-keep");
    fs::write(folder.join("file"), "").expect("it can be written");
    let ran = run(&format!("check safe.bp --keep {}/file/keep", folder.display()));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    let ran = run(&format!("check safe.bp --html {}/none/page.html", folder.display()));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
}

/// Runs the program in a shell whose files cannot grow beyond a limit of blocks.
#[cfg(unix)]
fn with_small_files(words: &str) -> std::process::Output {
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_selvedge")]);
    shell.args(words.split_whitespace()).stdin(std::process::Stdio::null()).output().expect("bash is installed")
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder("files-full");
    let path = folder.join("a.bp");
    fs::write(&path, UNTIDY).expect("it can be written");
    let ran = with_small_files(&format!("fmt {}", path.display()));
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{err}");
    assert!(err.contains("cannot write"), "{err}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), UNTIDY);
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 1, "nothing is left beside it");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the device is there");
    let status = command("check safe.bp").stdout(full).status().expect("the program was built");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn formatting_keeps_the_mark_and_the_bytes_of_comments() {
    let text = b"\xEF\xBB\xBF// caf\xE9\ndecl   a;\nvoid main() begin a:=1; assert(a); end\n";
    let path = folder("files-bytes").join("a.bp");
    fs::write(&path, text).expect("it can be written");
    assert_eq!(run(&format!("fmt {}", path.display())).code, 0);
    let formatted = fs::read(&path).expect("it is there");
    assert!(formatted.starts_with(b"\xEF\xBB\xBF// caf\xE9\ndecl a;\n"), "{formatted:?}");
    assert_eq!(run(&format!("check -q {}", path.display())).last_line(), "VERIFICATION SUCCESSFUL");
}

#[test]
fn comments_of_every_language_have_any_bytes_and_a_mark_is_skipped() {
    let net: &[u8] = b"\xEF\xBB\xBF# \xE9\nvars x\nrules x >= 1 -> x' = x + 1;\ninit x = 1\ntarget x >= 2\n";
    let cases: [(&str, &[u8], i32); 4] = [
        ("spec", net, 10),
        ("gcl", b"\xEF\xBB\xBF// \xE9\nvar x: int;\ninit x = 0;\nx := x;\nsafe x >= 0;\n", 0),
        ("pds", b"\xEF\xBB\xBF# \xE9\ninitial <p, g>\ntarget <p, g>\n<p, g> --> <p, g>\n", 10),
        // Two names that differ in such bytes are not one name.
        ("pds", b"initial <p\xE9, g>\ntarget <p\xE8, g>\n", 2),
    ];
    for (language, text, code) in cases {
        let ran = run_with_stdin(&format!("check -q --input-format {language} -"), text);
        assert_eq!(ran.code, code, "{language}: {}", ran.err);
    }
}

#[test]
fn predicates_have_their_own_grammar_and_lines() {
    let folder = folder("files-predicates");
    fs::write(folder.join("a.gcl"), "var x: int;\ninit x = 0;\nx := x + 1;\nsafe x >= 0;\n").expect("it is written");
    let of = |text: &str| {
        fs::write(folder.join("p.txt"), text).expect("it can be written");
        run(&format!("abstract {0}/a.gcl --predicates {0}/p.txt", folder.display()))
    };
    let ran = of("x <= 1; \nsafe evil: false\n");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("p.txt:2:1") && ran.err.contains("safe evil"), "{}", ran.err);
    let ran = of("# first\nx <= 1\n\ny <= 2\n");
    assert!(ran.code == 2 && ran.err.contains("p.txt:4:1"), "{}", ran.err);
    assert_eq!(of("x <= 1 // one\n-x <= 2; x = 3\n").code, 0);
}

#[test]
fn a_target_in_its_own_file_has_its_own_lines_and_no_rules() {
    let folder = folder("files-target");
    fs::write(folder.join("a.tts"), "2 2\n0 0 -> 1 1\n").expect("it can be written");
    for (target, place) in [("# why\n1|7\n", "a.prop:2:3"), ("1|1\n0 0 -> 1 0\n", "a.prop:2:1")] {
        fs::write(folder.join("a.prop"), target).expect("it can be written");
        let ran = run(&format!("check {}/a.tts", folder.display()));
        assert!(ran.code == 2 && ran.err.contains(place), "{}", ran.err);
    }
}

#[test]
fn names_and_comments_that_hide_something_are_escaped() {
    let folder = folder("files-hidden");
    let path = folder.join("a\u{202E}\u{1B}[2J.bp");
    fs::write(&path, "decl a; // \u{2066}x\u{1B}[31m\nvoid main() begin b := 1; assert(0); end\n").expect("written");
    let hidden = ['\u{202E}', '\u{2066}', '\u{1B}'];
    for format in ["text", "json", "sarif"] {
        let mut check = command("check --format");
        let output = check.arg(format).arg(&path).output().expect("the program was built");
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains(hidden), "{format}: {told:?}");
    }
    fs::write(&path, "decl a; // \u{2066}\nvoid main() begin assert(a); end\n").expect("written");
    let page = folder.join("page.html");
    let mut check = command("check --html");
    check.arg(&page).arg(&path).output().expect("the program was built");
    assert!(!fs::read_to_string(page).expect("it is written").contains(hidden));
}

/// Puts headers before messages.
fn framed(messages: &[&str]) -> Vec<u8> {
    messages.iter().map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len())).collect::<String>().into()
}

#[test]
fn the_language_server_answers_what_makes_no_sense_and_goes_on() {
    let document = r#""textDocument":{"uri":"file:///a.bp","text":"decl a;"}"#;
    let opened = format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{{document}}}}}"#);
    let hover = |id: u32, number: &str| {
        let position = format!(r#""position":{{"line":{number},"character":{number}}}"#);
        let params = format!("{{{document},{position}}}");
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"textDocument/hover","params":{params}}}"#)
    };
    let stream = framed(&[
        r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover"}"#,
        "{nonsense",
        "[1, 2]",
        r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":7}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"none"}"#,
        &opened,
        r#"{"jsonrpc":"2.0","id":4,"method":"textDocument/hover","params":{"textDocument":{"uri":7}}}"#,
        &hover(5, "18446744073709551615"),
        &hover(6, "-1"),
        r#"{"jsonrpc":"2.0","id":7,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ]);
    let ran = run_with_stdin("lsp", &[b"Content-Length: -1\r\n\r\n", stream.as_slice()].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    for code in [-32700, -32600, -32002, -32601, -32602] {
        assert!(ran.out.contains(&format!("\"code\":{code}")), "{code}: {}", ran.out);
    }
    for id in 1..=7 {
        assert!(ran.out.contains(&format!("\"id\":{id}")), "{id}: {}", ran.out);
    }
}

#[test]
fn the_debug_adapter_refuses_files_without_end_and_goes_on() {
    let stream = framed(&[
        r#"{"seq":1,"type":"request","command":"initialize"}"#,
        "nonsense",
        r#"{"seq":-1,"type":"request","command":7}"#,
        r#"{"seq":2,"type":"request","command":"launch","arguments":{"program":"/dev/zero"}}"#,
        r#"{"seq":3,"type":"request","command":"launch","arguments":{"program":7}}"#,
        r#"{"seq":4,"type":"request","command":"disconnect"}"#,
    ]);
    let ran = run_with_stdin("dap", &stream);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("it is not a regular file"), "{}", ran.out);
    for seq in 1..=4 {
        assert!(ran.out.contains(&format!("\"request_seq\":{seq}")), "{seq}: {}", ran.out);
    }
}
