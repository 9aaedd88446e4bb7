//! The peers' second build in static programs for devices: absent, with the reason for its arms.

use std::path::Path;

use paceline_harness::{Arm, Failure};

use crate::inputs::Inputs;

const AWAY: &str = "this program is static, as programs for devices are, and loads no library";

/// There is no library to look for.
pub fn look_in(_folder: &Path) {}

#[allow(
    clippy::unnecessary_wraps,
    reason = "where there is a library, it may be missing"
)]
pub(crate) fn arms<const N: usize>(
    _inputs: &Inputs,
    _items: usize,
    named: [(&'static str, &str); N],
) -> Result<Vec<Arm>, Failure> {
    Ok(named.map(|(name, _)| Arm::unavailable(name, AWAY)).into())
}

#[allow(clippy::unnecessary_wraps, reason = "as above")]
pub(crate) fn fact() -> Result<String, Failure> {
    Ok(AWAY.to_owned())
}
