//! Digests its arguments with the best engine, like a much smaller `sha256sum`.
//!
//!     cargo run --release --example digest -- abc

use std::io::{self, Write};

use paceline_hashing_core::{Algorithm, Choice, digest_buffers};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let messages: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
    let mut out = io::stdout().lock();
    for algorithm in [Algorithm::Sha1, Algorithm::Sha256] {
        let size = algorithm.digest_bytes();
        let mut digests = vec![0; messages.len() * size];
        let engine = digest_buffers(algorithm, Choice::Best, &messages, &mut digests)
            .map_err(io::Error::other)?;
        for (digest, argument) in digests.chunks_exact(size).zip(&arguments) {
            write!(out, "{}({argument}) = ", algorithm.name())?;
            for byte in digest {
                write!(out, "{byte:02x}")?;
            }
            writeln!(out, " by {engine}")?;
        }
    }
    Ok(())
}
