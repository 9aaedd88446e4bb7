//! The rounds of both functions over vectors of 32-bit lanes, written once for every vector width.
//!
//! The macros expect in scope a vector type `V` and `add`, `xor`, `xor3`, `choose`, `majority`,
//! `splat`, `hold`, `right_shift::<N>` and `rotate_right::<N>` over it. They are macros because a
//! function with `#[target_feature]` cannot be a safe trait method, and every operation must be
//! inlined into one such function.
//!
//! `hold` is a register barrier. LLVM reorders sums freely, and the order it finds lengthens the
//! dependency chain from round to round; here early values are added first and the last value last.

/// One round of SHA-256 (FIPS 180-4 §6.2.2 step 3); the caller renames the words instead of moving them.
///
/// Expects the constant `SHORT_CHAIN` in scope. It takes two more additions a round to have one less between a
/// word `e` and the next: worth it where that chain and not the number of instructions limits the speed.
macro_rules! sha256_round {
    ([$a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident], $k:expr $(, $w:expr)?) => {
        let big1 = xor3(
            rotate_right::<6>($e),
            rotate_right::<11>($e),
            rotate_right::<25>($e),
        );
        let early = add($h, splat($k));
        $(let early = add(early, $w);)?
        let early = hold(early);
        let chosen = choose($e, $f, $g);
        let t1 = hold(add(hold(add(early, chosen)), big1));
        let big0 = xor3(
            rotate_right::<2>($a),
            rotate_right::<13>($a),
            rotate_right::<22>($a),
        );
        $d = if SHORT_CHAIN {
            add(hold(add(hold(add($d, early)), chosen)), big1)
        } else {
            add($d, t1)
        };
        $h = add(hold(add(t1, majority($a, $b, $c))), big0);
    };
}

/// A round that also puts word t + 16 of the schedule into the place of word t (§6.2.2 step 1).
macro_rules! sha256_early_step {
    ($names:tt, $w:ident, $i:expr, $k:expr) => {
        sha256_round!($names, $k[$i], $w[$i]);
        let (near, far) = ($w[($i + 1) % 16], $w[($i + 14) % 16]);
        let small0 = xor3(
            rotate_right::<7>(near),
            rotate_right::<18>(near),
            right_shift::<3>(near),
        );
        let small1 = xor3(
            rotate_right::<17>(far),
            rotate_right::<19>(far),
            right_shift::<10>(far),
        );
        let early = add(add($w[$i], $w[($i + 9) % 16]), small0);
        $w[$i] = hold(add(hold(early), small1));
    };
}

/// A round of the last sixteen, which need no further words.
macro_rules! sha256_late_step {
    ($names:tt, $w:ident, $i:expr, $k:expr) => {
        sha256_round!($names, $k[$i], $w[$i]);
    };
}

/// A round of a block that is known: `$k` is the sum of constant and schedule.
macro_rules! sha256_known_step {
    ($names:tt, $w:ident, $i:expr, $k:expr) => {
        sha256_round!($names, $k[$i]);
    };
}

/// Sixteen rounds, after which every name stands for its word again.
macro_rules! sixteen {
    (
        $step:ident, $k:expr, $w:ident,
        $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident
    ) => {
        $step!([$a $b $c $d $e $f $g $h], $w, 0, $k);
        $step!([$h $a $b $c $d $e $f $g], $w, 1, $k);
        $step!([$g $h $a $b $c $d $e $f], $w, 2, $k);
        $step!([$f $g $h $a $b $c $d $e], $w, 3, $k);
        $step!([$e $f $g $h $a $b $c $d], $w, 4, $k);
        $step!([$d $e $f $g $h $a $b $c], $w, 5, $k);
        $step!([$c $d $e $f $g $h $a $b], $w, 6, $k);
        $step!([$b $c $d $e $f $g $h $a], $w, 7, $k);
        $step!([$a $b $c $d $e $f $g $h], $w, 8, $k);
        $step!([$h $a $b $c $d $e $f $g], $w, 9, $k);
        $step!([$g $h $a $b $c $d $e $f], $w, 10, $k);
        $step!([$f $g $h $a $b $c $d $e], $w, 11, $k);
        $step!([$e $f $g $h $a $b $c $d], $w, 12, $k);
        $step!([$d $e $f $g $h $a $b $c], $w, 13, $k);
        $step!([$c $d $e $f $g $h $a $b], $w, 14, $k);
        $step!([$b $c $d $e $f $g $h $a], $w, 15, $k);
    };
}

/// One round of SHA-1 (§6.1.2 step 3), `$f` of the words b, c and d.
macro_rules! sha1_round {
    ($f:ident, $k:expr, $w:expr, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        let early = hold(add(add($e, splat($k)), $w));
        let middle = hold(add(early, $f($b, $c, $d)));
        $e = add(middle, rotate_right::<27>($a));
        $b = rotate_right::<2>($b);
    };
}

/// Word t of SHA-1's schedule (§6.1.2 step 1) into its place, which words below 16 have from the start.
macro_rules! sha1_word {
    ($w:ident, $t:expr) => {{
        if $t >= 16 {
            let three = xor3($w[($t + 13) % 16], $w[($t + 8) % 16], $w[($t + 2) % 16]);
            $w[$t % 16] = rotate_right::<31>(xor(three, $w[$t % 16]));
        }
        $w[$t % 16]
    }};
}

/// Five rounds, after which every name stands for its word again.
macro_rules! sha1_five {
    ($f:ident, $w:ident, $t:expr, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        sha1_round!($f, SHA1_K[$t / 20], sha1_word!($w, $t), $a $b $c $d $e);
        sha1_round!($f, SHA1_K[$t / 20], sha1_word!($w, $t + 1), $e $a $b $c $d);
        sha1_round!($f, SHA1_K[$t / 20], sha1_word!($w, $t + 2), $d $e $a $b $c);
        sha1_round!($f, SHA1_K[$t / 20], sha1_word!($w, $t + 3), $c $d $e $a $b);
        sha1_round!($f, SHA1_K[$t / 20], sha1_word!($w, $t + 4), $b $c $d $e $a);
    };
}

/// Twenty rounds with one function and one constant.
macro_rules! sha1_twenty {
    ($f:ident, $w:ident, $t:expr, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        sha1_five!($f, $w, $t, $a $b $c $d $e);
        sha1_five!($f, $w, $t + 5, $a $b $c $d $e);
        sha1_five!($f, $w, $t + 10, $a $b $c $d $e);
        sha1_five!($f, $w, $t + 15, $a $b $c $d $e);
    };
}

/// What every vector width does alike: compression, the way through the blocks, the trait of the driver.
///
/// `$token` proves the CPU's features; `$lanes` is the number of 32-bit lanes. Further expects in scope:
/// `load_words`, `store_words`, `blend`, `words_of_blocks`, `words_of_edge` and `digests_of`.
macro_rules! lane_kernel {
    ($token:ident, $lanes:literal, $features:literal) => {
        ops! { $features;
            fn compress_sha256[SHORT_CHAIN: bool](state: [V; STATE_WORDS], schedule: [V; 16]) -> [V; STATE_WORDS] {
                let mut w = schedule;
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
                // Sixteen constants at a time: indexing all 64 by t costs a comparison a round.
                let [early @ .., late] = &SHA256_K_BY_SIXTEEN;
                for k in early {
                    sixteen!(sha256_early_step, k, w, a b c d e f g h);
                }
                sixteen!(sha256_late_step, late, w, a b c d e f g h);
                let mut next = [a, b, c, d, e, f, g, h];
                for (word, before) in next.iter_mut().zip(state) {
                    *word = add(*word, before);
                }
                next
            }
            fn compress_padding[SHORT_CHAIN: bool](state: [V; STATE_WORDS], padding: &Padding) -> [V; STATE_WORDS] {
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
                for k in &padding.0 {
                    sixteen!(sha256_known_step, k, w, a b c d e f g h);
                }
                let mut next = [a, b, c, d, e, f, g, h];
                for (word, before) in next.iter_mut().zip(state) {
                    *word = add(*word, before);
                }
                next
            }
            fn compress_sha1(state: [V; STATE_WORDS], schedule: [V; 16]) -> [V; STATE_WORDS] {
                let mut w = schedule;
                let [mut a, mut b, mut c, mut d, mut e, x, y, z] = state;
                sha1_twenty!(choose, w, 0, a b c d e);
                sha1_twenty!(xor3, w, 20, a b c d e);
                sha1_twenty!(majority, w, 40, a b c d e);
                sha1_twenty!(xor3, w, 60, a b c d e);
                let [a0, b0, c0, d0, e0, ..] = state;
                [add(a, a0), add(b, b0), add(c, c0), add(d, d0), add(e, e0), x, y, z]
            }
            fn words(step: &Step<'_, $lanes>, block: usize) -> [V; 16] {
                match step.blocks(block) {
                    Blocks::Whole(blocks) => words_of_blocks(&blocks),
                    Blocks::Edge(edge) => words_of_edge(&edge),
                }
            }
        }

        /// The only place that compresses: inlined there, words and state stay in registers.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn advance(
            token: $token,
            algorithm: Algorithm,
            state: &mut [V; STATE_WORDS],
            step: &Step<'_, $lanes>,
        ) {
            let mut next = *state;
            for block in step.from..step.to {
                // One call for all functions: LLVM inlines what is called once, and words that came back
                // from a call would do so through memory.
                let words = words(step, block);
                next = match algorithm {
                    Algorithm::Sha256 if token.short_chain => compress_sha256::<true>(next, words),
                    Algorithm::Sha256 => compress_sha256::<false>(next, words),
                    Algorithm::Sha1 => compress_sha1(next, words),
                };
            }
            *state = next;
        }

        #[target_feature(enable = $features)]
        fn step(
            token: $token,
            algorithm: Algorithm,
            columns: &mut Columns<$lanes>,
            step: &Step<'_, $lanes>,
            live: u32,
        ) {
            let mut state = [splat(0); STATE_WORDS];
            for (word, column) in state.iter_mut().zip(&columns.0) {
                *word = load_words(column);
            }
            let before = state;
            advance(token, algorithm, &mut state, step);
            for (column, (kept, word)) in columns.0.iter_mut().zip(before.into_iter().zip(state)) {
                store_words(column, blend(live, kept, word));
            }
        }

        #[target_feature(enable = $features)]
        fn alike(
            token: $token,
            algorithm: Algorithm,
            step: &Step<'_, $lanes>,
            padding: Option<&Padding>,
            rows: &mut [Row; $lanes],
        ) {
            let mut state = [splat(0); STATE_WORDS];
            for (word, initial) in state.iter_mut().zip(algorithm.initial_state()) {
                *word = splat(initial);
            }
            advance(token, algorithm, &mut state, step);
            if let Some(padding) = padding {
                state = if token.short_chain {
                    compress_padding::<true>(state, padding)
                } else {
                    compress_padding::<false>(state, padding)
                };
            }
            digests_of(state, rows);
        }

        #[target_feature(enable = $features)]
        fn digests(columns: &Columns<$lanes>, rows: &mut [Row; $lanes]) {
            let mut state = [splat(0); STATE_WORDS];
            for (word, column) in state.iter_mut().zip(&columns.0) {
                *word = load_words(column);
            }
            digests_of(state, rows);
        }

        /// Tests use both orders of sums on whatever CPU runs them.
        #[cfg(test)]
        impl $token {
            pub(crate) fn with_short_chain(self, short_chain: bool) -> Self {
                Self { short_chain }
            }
        }

        impl Lanes<$lanes> for $token {
            fn step(
                self,
                algorithm: Algorithm,
                columns: &mut Columns<$lanes>,
                blocks: &Step<'_, $lanes>,
                live: u32,
            ) {
                // SAFETY: the CPU has the features; a token is made only when it does.
                unsafe { step(self, algorithm, columns, blocks, live) }
            }

            fn alike(
                self,
                algorithm: Algorithm,
                blocks: &Step<'_, $lanes>,
                padding: Option<&Padding>,
                rows: &mut [Row; $lanes],
            ) {
                // SAFETY: as above.
                unsafe { alike(self, algorithm, blocks, padding, rows) }
            }

            fn digests(self, columns: &Columns<$lanes>, rows: &mut [Row; $lanes]) {
                // SAFETY: as above.
                unsafe { digests(columns, rows) }
            }
        }
    };
}

/// Functions of a kernel over vectors: inlined, with the kernel's features.
macro_rules! ops {
    ($features:literal; $(
        $(#[$note:meta])*
        fn $name:ident$([$n:ident: $t:ty])?($($arg:ident: $in:ty),*) $(-> $out:ty)? $body:block
    )*) => {
        $($(#[$note])*
        #[inline]
        #[target_feature(enable = $features)]
        fn $name$(<const $n: $t>)?($($arg: $in),*) $(-> $out)? $body)*
    };
}
