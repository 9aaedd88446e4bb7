//! Engines as numbers for the JVM: 0 lets the core choose, n is the n-th of [`Engine::ALL`].

use jni::sys::jint;
use paceline_hashing_core::{Choice, Engine};
use paceline_hashing_jni_guard::Refusal;

/// The choice for a number.
pub(crate) fn choice(number: i64) -> Result<Choice, Refusal> {
    match usize::try_from(number) {
        Ok(0) => Ok(Choice::Best),
        Ok(n) if n <= Engine::ALL.len() => Ok(Choice::Only(Engine::ALL[n - 1])),
        _ => Err(Refusal::Argument(format!(
            "engine: there is no number {number}"
        ))),
    }
}

/// The number of an engine.
pub(crate) fn number(engine: Engine) -> jint {
    Engine::ALL
        .iter()
        .zip(1..)
        .find_map(|(known, n)| (*known == engine).then_some(n))
        .unwrap_or(0)
}

/// Names of all engines in the order of their numbers; those this CPU cannot run begin with `-`.
pub(crate) fn listed() -> String {
    let names = Engine::ALL.map(|engine| {
        let mark = if engine.is_available() { "" } else { "-" };
        format!("{mark}{}", engine.name())
    });
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_its_own_number() {
        for engine in Engine::ALL {
            assert_eq!(
                choice(i64::from(number(engine))).ok(),
                Some(Choice::Only(engine))
            );
        }
        assert_eq!(choice(0).ok(), Some(Choice::Best));
        for wrong in [-1, 99, i64::MAX, i64::MIN] {
            assert!(choice(wrong).is_err(), "{wrong}");
        }
    }
}
