//! ring and AWS-LC in static programs for devices: absent, with the reason for their arms.

use std::rc::Rc;

use paceline_harness::{Arm, Failure};

use crate::inputs::Inputs;
use crate::peers::{AWS_LC, RING, STATIC};

#[allow(
    clippy::unnecessary_wraps,
    reason = "where the libraries are, they may refuse a seed"
)]
pub(crate) fn sign(_inputs: &Rc<Inputs>) -> Result<[Arm; 2], Failure> {
    Ok(away())
}

pub(crate) fn verify(_inputs: &Rc<Inputs>) -> [Arm; 2] {
    away()
}

fn away() -> [Arm; 2] {
    [RING, AWS_LC].map(|name| Arm::unavailable(name, STATIC))
}
