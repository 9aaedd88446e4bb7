//! The implementations of the two compression functions, their names, and which of them this CPU
//! can run.
//!
//! An engine is in [`Engine::available`] only when the CPU has every instruction it uses; the
//! unsafe calls into kernels rely on that.

use std::fmt;
use std::sync::OnceLock;

/// An implementation of both compression functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Plain Rust as FIPS 180-4 writes it; every other engine is compared with it.
    Scalar,
    /// x86 SHA extensions, one message at a time.
    ShaNi,
    /// x86 SHA extensions, two messages interleaved: the second fills the latency of the first.
    ShaNiX2,
    /// AVX2, eight messages, one per 32-bit lane.
    Avx2X8,
    /// AVX-512 in 256-bit registers, eight messages, one per 32-bit lane.
    Avx512X8,
    /// AVX-512, sixteen messages, one per 32-bit lane.
    Avx512X16,
    /// `ARMv8` cryptographic extensions, one message at a time.
    Armv8Ce,
}

impl Engine {
    /// Every engine, on any CPU.
    pub const ALL: [Self; 7] = [
        Self::Scalar,
        Self::ShaNi,
        Self::ShaNiX2,
        Self::Avx2X8,
        Self::Avx512X8,
        Self::Avx512X16,
        Self::Armv8Ce,
    ];

    /// The engines this CPU can run, in the order of [`Engine::ALL`]; looked up once per process.
    #[must_use]
    pub fn available() -> &'static [Self] {
        static FOUND: OnceLock<([Engine; Engine::ALL.len()], usize)> = OnceLock::new();
        let (engines, count) = FOUND.get_or_init(|| {
            let mut engines = [Self::Scalar; Self::ALL.len()];
            let mut count = 0;
            for engine in Self::ALL
                .into_iter()
                .filter(|engine| engine.detect_features())
            {
                engines[count] = engine;
                count += 1;
            }
            (engines, count)
        });
        &engines[..*count]
    }

    /// Returns whether this CPU can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        Self::available().contains(&self)
    }

    /// The engine with that [name](Self::name), whether or not this CPU can run it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// The name in results, in `snake_case`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::ShaNi => "sha_ni",
            Self::ShaNiX2 => "sha_ni_x2",
            Self::Avx2X8 => "avx2_x8",
            Self::Avx512X8 => "avx512_x8",
            Self::Avx512X16 => "avx512_x16",
            Self::Armv8Ce => "armv8_ce",
        }
    }

    /// Returns what a CPU needs for it, as results say it where the engine is unavailable.
    #[must_use]
    pub const fn requires(self) -> &'static str {
        match self {
            Self::Scalar => "nothing",
            Self::ShaNi | Self::ShaNiX2 => "an x86-64 CPU with SHA, SSSE3 and SSE4.1",
            Self::Avx2X8 => "an x86-64 CPU with AVX2",
            Self::Avx512X8 => "an x86-64 CPU with AVX2, AVX-512F and AVX-512VL",
            Self::Avx512X16 => "an x86-64 CPU with AVX-512F, AVX-512BW and AVX-512VL",
            Self::Armv8Ce => "an AArch64 CPU with the SHA1 and SHA2 extensions",
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn detect_features(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        match self {
            Self::Scalar => true,
            Self::ShaNi | Self::ShaNiX2 => has!("sha") && has!("ssse3") && has!("sse4.1"),
            Self::Avx2X8 => has!("avx2"),
            Self::Avx512X8 => has!("avx2") && has!("avx512f") && has!("avx512vl"),
            Self::Avx512X16 => has!("avx512f") && has!("avx512bw") && has!("avx512vl"),
            Self::Armv8Ce => false,
        }
    }

    #[cfg(target_arch = "aarch64")]
    fn detect_features(self) -> bool {
        use std::arch::is_aarch64_feature_detected as has;
        match self {
            Self::Scalar => true,
            Self::Armv8Ce => has!("sha2"), // Rust's name for SHA1 and SHA2 together
            _ => false,
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn detect_features(self) -> bool {
        self == Self::Scalar
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
