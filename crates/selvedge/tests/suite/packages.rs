//! What would be published: every crate that the library and the command line need can be packed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::root;

/// Returns the crates that are to be published, with their manifests.
fn published() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path().join("Cargo.toml");
        let manifest = std::fs::read_to_string(path).unwrap();
        if manifest.contains("publish.workspace = true") {
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")).unwrap();
            found.push((name.trim_end_matches('"').to_string(), manifest));
        }
    }
    found.sort();
    found
}

#[test]
fn a_published_crate_describes_itself_and_needs_only_published_ones() {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let published = published();
    let names: BTreeSet<&str> = published.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains("selvedge") && names.contains("selvedge-cli"), "{names:?}");
    for (name, manifest) in &published {
        for field in ["description = \"", "license.workspace = true", "rust-version.workspace = true"] {
            assert!(manifest.contains(field), "{name} lacks {field}");
        }
        let needed = manifest.split("[dependencies]").nth(1).unwrap_or_default().split("\n[dev-").next().unwrap();
        let needed = needed.lines().filter_map(|line| line.split(['.', ' ']).next());
        for other in needed.filter(|other| other.starts_with("selvedge")) {
            assert!(names.contains(other), "{name} needs {other}, which is not published");
            let row = workspace.lines().find(|line| line.starts_with(&format!("{other} = "))).unwrap();
            assert!(row.contains("version = "), "a published crate needs {other} with a version: {row}");
        }
    }
}

#[test]
fn a_package_has_what_its_program_includes_and_no_more() {
    for (name, file) in [("selvedge", "README.md"), ("selvedge-report", "src/html/assets/report.js")] {
        let arguments = ["package", "--list", "--allow-dirty", "--offline", "-p", name];
        let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo runs");
        let (listed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{errors}");
        assert!(listed.lines().any(|line| line == file), "{name}: {listed}");
        assert!(listed.lines().all(|line| !line.starts_with("target/") && !line.starts_with("..")), "{name}: {listed}");
    }
}

/// Packs without building from the packages, which takes minutes (`docs/library.md`).
#[test]
fn all_published_crates_can_be_packed() {
    let names = published().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let mut command = Command::new(env!("CARGO"));
    command.args(["package", "--no-verify", "--allow-dirty", "--offline", "--target-dir"]);
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/packages");
    command.arg(folder).args(names.iter().flat_map(|name| ["-p", name])).current_dir(root());
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in names {
        let path = format!("{folder}/package/{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        assert!(std::path::Path::new(&path).exists(), "{path}");
    }
}

/// The module is built and tried by `python/test`; what a text can tell is checked here.
#[test]
fn the_module_of_python_is_of_this_version_and_its_stubs_name_its_classes() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let (workspace, manifest) = (read("Cargo.toml"), read("python/Cargo.toml"));
    let version = workspace.lines().find(|line| line.starts_with("version = ")).unwrap();
    assert!(manifest.lines().any(|line| line == version), "{version}");
    for profile in workspace.split("\n\n").filter(|section| section.contains("overflow-checks = true")) {
        let profile = profile.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
        assert!(manifest.contains(profile.trim_end()), "python/Cargo.toml lacks\n{profile}");
    }
    let (code, stubs, module) = (
        read("python/src/lib.rs"),
        read("python/python/selvedge/__init__.pyi"),
        read("python/python/selvedge/__init__.py"),
    );
    let classes: Vec<&str> =
        code.split("module.add_class::<").skip(1).filter_map(|rest| rest.split('>').next()).collect();
    assert!(classes.len() > 8, "{classes:?}");
    for class in classes {
        assert!(stubs.contains(&format!("class {class}:")), "the stubs lack {class}");
        assert!(module.contains(&format!("    \"{class}\",")), "__all__ lacks {class}");
    }
}

/// A package of a file `Cargo.lock`: its version, whether it is ours, and the names of what it needs.
struct Locked {
    version: String,
    is_ours: bool,
    needs: BTreeSet<String>,
}

/// Reads a file `Cargo.lock`; there can be several versions of a package.
fn locked(file: &str) -> BTreeMap<String, Vec<Locked>> {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let mut found: BTreeMap<String, Vec<Locked>> = BTreeMap::new();
    for part in text.split("[[package]]").skip(1) {
        let field = |name: &str| part.lines().find_map(|line| line.strip_prefix(name)?.split('"').nth(1));
        let needs = part.lines().filter_map(|line| line.strip_prefix(" \"")?.split([' ', '"']).next());
        let package = Locked {
            version: field("version = ").unwrap().to_string(),
            is_ours: field("source = ").is_none(),
            needs: needs.map(str::to_string).collect(),
        };
        found.entry(field("name = ").unwrap().to_string()).or_default().push(package);
    }
    found
}

/// Returns what the manifest of one of our crates needs in any case.
fn needed(name: &str) -> Vec<String> {
    let folder = name.strip_prefix("selvedge-").unwrap_or(name);
    let manifest = std::fs::read_to_string(root().join("crates").join(folder).join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default().split("\n[").next().unwrap();
    let lines = section.lines().filter(|line| !line.starts_with('#') && !line.contains("optional = true"));
    lines
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .map(Into::into)
        .collect()
}

/// The module of Python and the fuzzer are workspaces of their own, whose locks are brought up to date by
/// `cargo metadata` in their folders.
#[test]
fn the_other_locks_are_in_step_with_the_workspace() {
    let workspace = locked("Cargo.lock");
    for file in ["python/Cargo.lock", "fuzz/Cargo.lock"] {
        let mut seen = 0;
        for (name, packages) in locked(file) {
            let Some(known) = workspace.get(&name) else { continue };
            for package in packages {
                let same = known.iter().find(|other| other.version == package.version);
                let same = same.unwrap_or_else(|| panic!("{file} has {name} {}, the workspace not", package.version));
                if package.is_ours {
                    seen += 1;
                    let gone: Vec<&String> = package.needs.difference(&same.needs).collect();
                    assert!(gone.is_empty(), "{file}: {name} does not need {gone:?} any more");
                    let new: Vec<String> =
                        needed(&name).into_iter().filter(|other| !package.needs.contains(other)).collect();
                    assert!(new.is_empty(), "{file} does not know that {name} needs {new:?}");
                }
            }
        }
        assert!(seen > 10, "{file}: {seen}");
    }
}
