//! Which implementation of the compression function this CPU gets.
//!
//! `sha2` chooses by itself at run time; this module repeats its conditions so that results can name the
//! choice. Room is left for engines of our own (scalar twin, multi-stream), which will be arms of the suite.

/// An implementation of SHA-256's compression function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// x86 SHA extensions, one stream.
    ShaNi,
    /// `ARMv8` cryptographic extensions, one stream.
    ArmSha2,
    /// Portable code.
    Portable,
}

impl Engine {
    /// The engine that [`digest_batch`](crate::digest_batch) uses on this CPU.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("sse4.1") {
            return Self::ShaNi;
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("sha2") {
            return Self::ArmSha2;
        }
        Self::Portable
    }

    /// The name results carry, in `snake_case`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ShaNi => "sha_ni",
            Self::ArmSha2 => "armv8_sha2",
            Self::Portable => "portable",
        }
    }
}
