// The arms of `piece` and `piece_instrumentation`: each hashes every piece once per iteration.
//
// Kotlin's timed region is one call of `piece_ARM`. Every arm leaves the digests of the last
// iteration in order of the pieces, the time of each of its calls as the script sees it, and the
// number of digests it received.
'use strict';

(() => {
  // One bench sample holds at most 1,000 values (native/protocol/README.md).
  const MOST_CALLS = 1000;
  const pieces = [];
  const { paths } = NativeHasher;

  /** Durations of the calls of one run, in nanoseconds. */
  function recorder() {
    const durations = new Float64Array(MOST_CALLS);
    let count = 0;
    return {
      clear: () => (count = 0),
      since: begin => {
        if (count < MOST_CALLS) durations[count++] = paceline.now() - begin;
      },
      bytes: () => new Uint8Array(durations.slice(0, count).buffer),
    };
  }

  const oneByOne = hasher => (digests, calls) => {
    for (let i = 0; i < pieces.length; i++) {
      const begin = paceline.now();
      digests[i] = hasher.sha1(pieces[i]);
      calls.since(begin);
    }
  };

  const inBatches = (hasher, size) => (digests, calls) => {
    for (let from = 0; from < pieces.length; from += size) {
      const batch = pieces.slice(from, from + size);
      const begin = paceline.now();
      const found = hasher.sha1Batch(batch);
      calls.since(begin);
      for (let i = 0; i < found.length; i++) digests[from + i] = found[i];
    }
  };

  /** All at once; a call lasts until its callback runs, whatever the others do. */
  const allAtOnce = hasher => (digests, calls) =>
    new Promise((resolve, reject) => {
      let left = pieces.length;
      pieces.forEach((piece, i) => {
        const begin = paceline.now();
        hasher.sha1Later(piece, (error, digest) => {
          if (error) return reject(error);
          digests[i] = digest;
          calls.since(begin);
          if (--left === 0) resolve();
        });
      });
    });

  const arms = {
    seed: oneByOne(paths.seed),
    noslice: oneByOne(paths.noslice),
    reuse: oneByOne(paths.reuse),
    direct: oneByOne(paths.direct),
    // On top of `noslice`, in the order the original recommends: slices of a batch would all be alive at once.
    batch_8: inBatches(paths.noslice, 8),
    batch_16: inBatches(paths.noslice, 16),
    async: allAtOnce(paths.direct),
    native: oneByOne(paths.native),
    native_multi_8: inBatches(paths.native, 8),
    native_multi_16: inBatches(paths.native, 16),
    native_multi: inBatches(paths.nativeCrew, 16),
    async_native: allAtOnce(paths.native),
  };

  function offer(name, hashAll) {
    const calls = recorder();
    let digests = [];
    let hashed = 0;
    globalThis[`piece_${name}`] = iterations => {
      calls.clear();
      hashed = 0;
      const iterate = left => {
        // An arm that waits returns a promise; the others must not pay for one.
        for (; left > 0; left--) {
          const landed = hashAll((digests = []), calls);
          if (landed) return landed.then(() => ((hashed += digests.length), iterate(left - 1)));
          hashed += digests.length;
        }
      };
      return iterate(iterations);
    };
    globalThis[`piece_${name}_hashed`] = () =>
      Uint8Array.from(String(hashed), digit => digit.charCodeAt(0));
    globalThis[`piece_${name}_calls`] = () => calls.bytes();
    globalThis[`piece_${name}_digests`] = () => {
      const joined = new Uint8Array(digests.length * 20);
      digests.forEach((digest, i) => joined.set(digest, i * 20));
      return joined;
    };
    globalThis[`piece_${name}_forget`] = () => void (digests = []);
  }

  for (const [name, hashAll] of Object.entries(arms)) offer(name, hashAll);

  /** Kotlin hands over the pieces, each a Uint8Array over a buffer of its own. */
  globalThis.piece_add = data => void pieces.push(data);

  /** The arms of `piece_instrumentation`: the original's path without and with the original's counters. */
  offer('off', arms.seed);
  globalThis.piece_instrument = everyMs => {
    const counted = oneByOne(instrumented(paths.seed, everyMs, paceline.log));
    for (const name of ['on', 'lines']) offer(name, counted);
  };
})();
