//! What would be published: every crate that the library and the command line need can be packed.

use std::collections::BTreeSet;
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
