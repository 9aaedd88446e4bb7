//! The header and the library as a C compiler and a C program see them.

use std::path::{Path, PathBuf};
use std::process::Command;

const WARNINGS: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Where cargo put the shared library: beside the folder of this test's program.
fn library_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a test has a program");
    program.parent().expect("it lies in deps").to_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_in_c_gets_the_answers_the_header_promises() {
    let library = library_folder();
    let found = library.join("libpaceline_finality_capi.so");
    assert!(
        found.is_file(),
        "{} is built with the tests",
        found.display()
    );
    let program = library.join(format!("paceline-finality-caller-{}", std::process::id()));
    let compiled = Command::new("cc")
        .args(WARNINGS)
        .args(["-g", "-O1", "-I"])
        .arg(here("include"))
        .arg(here("tests/caller.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .arg("-lpaceline_finality_capi")
        .output()
        .expect("there is a C compiler");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let ran = Command::new(&program)
        .env("LD_LIBRARY_PATH", &library)
        .output()
        .expect("it runs");
    std::fs::remove_file(&program).expect("it was just made");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn the_header_can_be_read_by_itself_and_by_cxx() {
    for language in ["c", "c++"] {
        let mut compiler = Command::new("cc");
        compiler.args([
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-x",
            language,
        ]);
        let read = compiler
            .arg(here("include/paceline_finality.h"))
            .output()
            .expect("a C compiler");
        assert!(
            read.status.success(),
            "{language}: {}",
            String::from_utf8_lossy(&read.stderr)
        );
    }
}
