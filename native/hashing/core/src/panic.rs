//! The text of a caught panic, for callers that hash on a thread which must survive it.

use std::any::Any;

/// The text of a panic's payload, for an error.
#[must_use]
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("panic in native code: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_with_either_kind_of_text_keeps_it() {
        assert_eq!(panic_text(&"asked for"), "panic in native code: asked for");
        assert_eq!(
            panic_text(&String::from("built")),
            "panic in native code: built"
        );
        assert_eq!(panic_text(&7_u8), "panic in native code: no message");
    }
}
