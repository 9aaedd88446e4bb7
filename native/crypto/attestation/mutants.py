#!/usr/bin/env python3
"""Breaks the lane arithmetic in many small ways and demands that a test notices each.

A proof that cannot fail proves nothing: `src/lanes/bounds.rs` and the comparisons beside it are run on copies of
this crate in which one constant, shift or carry is wrong. `python3 mutants.py [WORD]` runs those whose name has the
word; `make test-long` runs all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

CRATE = Path(__file__).resolve().parent
NATIVE = CRATE.parent.parent
# Not optimised: compiling takes most of the time.
COMMAND = (
    "cargo",
    "--config=profile.dev.package.paceline-attestation.opt-level=0",
    "test",
    "--locked",
    "--quiet",
    "-p",
    "paceline-attestation",
    "--lib",
)
TESTS = (
    "lanes::bounds",
    "lanes::encoded",
    "every_operation_of_registers",
    "sums_of_every_plan",
    "a_sum_is_encoded",
)


class Mutant(NamedTuple):
    """One change of one file: the first `right` becomes `wrong`."""

    name: str
    file: str
    right: str
    wrong: str


MUTANTS = (
    Mutant("fold", "field", "19 << 5", "19 << 4"),
    Mutant("fold twice", "field", ".plus_low(over, fold)", ""),
    Mutant("carry into g", "field", "g = g.plus(f.right::<52>());", ""),
    Mutant("carry into j", "field", "j = j.plus(i.right::<52>());", ""),
    Mutant(
        "nineteen",
        "field",
        "e.right::<47>(), V::splat(19)",
        "e.right::<47>(), V::splat(18)",
    ),
    Mutant("carry into b", "field", "b = b.plus(a.right::<52>());", ""),
    Mutant("carry out of e", "field", "e = e.and(V::splat(LOW_47));", ""),
    Mutant("low 47 bits", "field", "(1 << 47) - 1", "(1 << 48) - 1"),
    Mutant("2p is not 0", "field", "(1 << 53) - 38", "(1 << 53) - 36"),
    Mutant(
        "2p too small",
        "field",
        "self.0[limb]\n                .plus(V::splat(TWICE_P[limb]))",
        "self.0[limb]",
    ),
    Mutant(
        "sum not carried",
        "field",
        "Self::carried(std::array::from_fn(|limb| self.0[limb].plus",
        "Self(std::array::from_fn(|limb| self.0[limb].plus",
    ),
    Mutant(
        "high half misplaced",
        "field",
        "columns[i + j + 1] = columns[i + j + 1].plus_high",
        "columns[i + j] = columns[i + j].plus_high",
    ),
    Mutant(
        "square not doubled",
        "field",
        "columns[1..2 * LIMBS - 1]",
        "columns[1..2 * LIMBS - 2]",
    ),
    Mutant(
        "canonical",
        "field",
        "over = e.plus(over).right::<47>();",
        "over = e.plus(over).right::<48>();",
    ),
    Mutant("words to limbs", "field", "b.left::<12>()", "b.left::<11>()"),
    Mutant(
        "registers: high half",
        "avx512",
        "intrinsic!(_mm512_madd52hi_epu64",
        "intrinsic!(_mm512_madd52lo_epu64",
    ),
    Mutant(
        "registers: below",
        "avx512",
        "_mm512_cmp_epu64_mask::<_MM_CMPINT_LT>",
        "_mm512_cmp_epu64_mask::<_MM_CMPINT_EQ>",
    ),
    Mutant(
        "encoding: canonical",
        "encoded",
        "add(&mut number, 19 * u128::from(above));",
        "add(&mut number, 18 * u128::from(above));",
    ),
    Mutant(
        "encoding: fold",
        "encoded",
        "add(&mut number, 38 * sum)",
        "add(&mut number, 37 * sum)",
    ),
    Mutant("bucket of 0", "sum", "rows[1..]", "rows[0..]"),
    Mutant("sign of a key", "alone", "!negative", "negative"),
)


def copy_of_workspace(folder: Path) -> Path:
    """Return the tracked files of `native/`, where cargo finds them as one workspace."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "."), cwd=NATIVE, check=True, capture_output=True
    )
    for name in listed.stdout.decode().split("\0"):
        if name.endswith((".rs", ".toml", ".lock")) and (NATIVE / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(NATIVE / name, folder / name)
    return folder / CRATE.relative_to(NATIVE)


def passes(crate: Path, target: Path) -> bool:
    """Return whether the tests pass; a crate that does not compile proves nothing and ends the run."""
    # Frames that are not optimised are large.
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(target),
        "RUST_MIN_STACK": str(64 << 20),
    }
    built = subprocess.run(
        (*COMMAND, "--no-run"),
        cwd=crate,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        sys.exit(f"mutants.py: it does not compile:\n{built.stderr}")
    done = subprocess.run(
        (*COMMAND, "--", *TESTS),
        cwd=crate,
        env=environment,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def main() -> int:
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    target = Path(os.environ.get("CARGO_TARGET_DIR", NATIVE / "target"))
    unnoticed = []
    with tempfile.TemporaryDirectory() as folder:
        crate = copy_of_workspace(Path(folder))
        if not passes(crate, target):
            sys.exit("mutants.py: the tests fail without a mutant")
        for mutant in (mutant for mutant in MUTANTS if word in mutant.name):
            path = crate / "src" / "lanes" / f"{mutant.file}.rs"
            right = path.read_text()
            if mutant.right not in right:
                sys.exit(
                    f"mutants.py: {path.name} has no {mutant.right!r} (mutant {mutant.name!r}); mend the list"
                )
            path.write_text(right.replace(mutant.right, mutant.wrong, 1))
            noticed = not passes(crate, target)
            path.write_text(right)
            sys.stdout.write(
                f"{'noticed' if noticed else 'UNNOTICED'}  {mutant.name}\n"
            )
            sys.stdout.flush()
            if not noticed:
                unnoticed.append(mutant.name)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
