//! What both kernels over 256-bit registers share: loads, stores, and the way between rows and
//! lanes.

/// Expects `V`, `Columns`, `Edge`, `Block` and `Row` in scope.
macro_rules! eight_lanes {
    ($features:literal) => {
        ops! { $features;
            fn add(x: V, y: V) -> V { _mm256_add_epi32(x, y) }
            fn xor(x: V, y: V) -> V { _mm256_xor_si256(x, y) }
            fn splat(x: u32) -> V { _mm256_set1_epi32(x.cast_signed()) }
            fn right_shift[N: i32](x: V) -> V { _mm256_srli_epi32::<N>(x) }
            fn blend(ones: u32, unset: V, set: V) -> V {
                let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let chosen = _mm256_cmpeq_epi32(_mm256_and_si256(splat(ones), bits), bits);
                _mm256_blendv_epi8(unset, set, chosen)
            }
            fn hold(x: V) -> V {
                let mut x = x;
                // SAFETY: no instruction at all; the operand tells the compiler that the value may have
                // changed.
                unsafe {
                    asm!("/* {0} */", inout(ymm_reg) x, options(pure, nomem, nostack, preserves_flags));
                }
                x
            }
            fn load_words(words: &[u32; 8]) -> V {
                // SAFETY: 32 readable bytes; the instruction asks for no alignment.
                unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
            }
            fn store_words(words: &mut [u32; 8], x: V) {
                // SAFETY: 32 writable bytes; the instruction asks for no alignment.
                unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), x) }
            }
            fn load_half(half: &[u8; 32]) -> V {
                // SAFETY: 32 readable bytes; the instruction asks for no alignment.
                swap_bytes(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) })
            }
            fn swap_bytes(x: V) -> V {
                let order = _mm_set_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
                _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order))
            }
            /// From four vectors, word j of each 128-bit half of each, into vector j.
            fn transpose_halves(x: [V; 4]) -> [V; 4] {
                let low = [_mm256_unpacklo_epi32(x[0], x[1]), _mm256_unpacklo_epi32(x[2], x[3])];
                let high = [_mm256_unpackhi_epi32(x[0], x[1]), _mm256_unpackhi_epi32(x[2], x[3])];
                [
                    _mm256_unpacklo_epi64(low[0], low[1]),
                    _mm256_unpackhi_epi64(low[0], low[1]),
                    _mm256_unpacklo_epi64(high[0], high[1]),
                    _mm256_unpackhi_epi64(high[0], high[1]),
                ]
            }
            /// From eight words of each of eight rows to one word of all rows per vector.
            fn transpose(rows: [V; 8]) -> [V; 8] {
                let upper = transpose_halves([rows[0], rows[1], rows[2], rows[3]]);
                let lower = transpose_halves([rows[4], rows[5], rows[6], rows[7]]);
                let mut words = [splat(0); 8];
                for j in 0..4 {
                    words[j] = _mm256_permute2x128_si256::<0x20>(upper[j], lower[j]);
                    words[4 + j] = _mm256_permute2x128_si256::<0x31>(upper[j], lower[j]);
                }
                words
            }
            fn words_of(blocks: [&Block; 8]) -> [V; 16] {
                let mut words = [splat(0); 16];
                let mut halves = [[splat(0); 8]; 2];
                for (row, block) in blocks.into_iter().enumerate() {
                    let [left, right, ..] = block.as_chunks::<32>().0 else { return words };
                    halves[0][row] = load_half(left);
                    halves[1][row] = load_half(right);
                }
                let (left, right) = words.split_at_mut(8);
                left.copy_from_slice(&transpose(halves[0]));
                right.copy_from_slice(&transpose(halves[1]));
                words
            }
            fn words_of_blocks(whole: &WholeBlocks<'_, 8>) -> [V; 16] {
                words_of(core::array::from_fn(|lane| whole.of_lane(lane)))
            }
            fn words_of_edge(edge: &Edge<'_, 8>) -> [V; 16] {
                words_of(edge.blocks().each_ref())
            }
            fn digests_of(state: [V; STATE_WORDS], rows: &mut [Row; 8]) {
                for (row, x) in rows.iter_mut().zip(transpose(state.map(|word| swap_bytes(word)))) {
                    // SAFETY: 32 writable bytes; the instruction asks for no alignment.
                    unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), x) };
                }
            }
        }
    };
}
