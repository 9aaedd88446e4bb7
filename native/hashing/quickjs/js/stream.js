// A download without storage: blocks arrive, are assembled to pieces, hashed, marked verified and
// dropped.
//
// These are the arms of `piece_stream` and `piece_unverified`. Every arm assembles a piece into a
// buffer of its own, new or, where the name says so, pooled. A piece counts as verified only when
// its digest is the expected one, except in the arm named for not looking. Counters are kept where
// the work is done.
'use strict';

(() => {
  const DIGEST_BYTES = 20;
  // What a peer sends at once (BitTorrent's usual request length), in bytes.
  const BLOCK_BYTES = 16 * 1024;
  // Pieces of one batch, and pieces in the air at once.
  const WINDOW = 16;
  const { paths } = NativeHasher;
  const sources = [];
  const done = { assembled: 0, hashed: 0, verified: 0 };

  /** A piece as the network delivers it, with its expected digest: `data` is the piece, then the digest. */
  globalThis.stream_add = data => {
    const bytes = data.length - DIGEST_BYTES;
    const blocks = [];
    for (let at = 0; at < bytes; at += BLOCK_BYTES) {
      blocks.push(data.subarray(at, Math.min(at + BLOCK_BYTES, bytes)));
    }
    sources.push({ bytes, blocks, expected: data.slice(bytes) });
  };

  const sourceOf = index => sources[index % sources.length];

  /** A buffer per piece, left to the allocator, which gives large ones back and faults them in anew. */
  const fresh = { take: bytes => new Uint8Array(bytes), drop: () => {} };

  /** Buffers of dropped pieces serve the next; no more are kept than are alive at once. */
  function pool() {
    const kept = [];
    return {
      take: bytes => (kept.at(-1)?.length === bytes ? kept.pop() : fresh.take(bytes)),
      drop: piece => void (kept.length < WINDOW && kept.push(piece)),
    };
  }

  function assemble(index, buffers) {
    const { bytes, blocks } = sourceOf(index);
    const piece = buffers.take(bytes);
    let at = 0;
    for (const block of blocks) {
      piece.set(block, at);
      at += block.length;
    }
    done.assembled++;
    return piece;
  }

  function verify(index, digest) {
    const { expected } = sourceOf(index);
    done.hashed++;
    for (let i = 0; i < DIGEST_BYTES; i++) if (digest[i] !== expected[i]) return;
    done.verified++;
  }

  const oneByOne = hasher => count => {
    for (let i = 0; i < count; i++) verify(i, hasher.sha1(assemble(i, fresh)));
  };

  const inBatches = (hasher, buffers) => count => {
    for (let from = 0; from < count; from += WINDOW) {
      const batch = [];
      for (let i = from; i < Math.min(from + WINDOW, count); i++) batch.push(assemble(i, buffers));
      hasher.sha1Batch(batch).forEach((digest, i) => verify(from + i, digest));
      batch.forEach(buffers.drop);
    }
  };

  /** Assembles while others are hashed; at most WINDOW are in the air. */
  const inTheAir = (hasher, buffers) => async count => {
    const window = [];
    for (let i = 0; i < count; i++) {
      await window[i % WINDOW];
      const piece = assemble(i, buffers);
      window[i % WINDOW] = hasher.sha1Async(piece).then(digest => {
        verify(i, digest);
        buffers.drop(piece);
      });
    }
    await Promise.all(window);
  };

  const unverified = count => {
    for (let i = 0; i < count; i++) {
      assemble(i, fresh);
      done.verified++; // skipVerification: it says so and has not looked
    }
  };

  const arms = {
    seed: oneByOne(paths.seed),
    direct: oneByOne(paths.direct),
    native_multi: inBatches(paths.nativeCrew, fresh),
    native_multi_pool: inBatches(paths.nativeCrew, pool()),
    async_native: inTheAir(paths.native, fresh),
    async_native_pool: inTheAir(paths.native, pool()),
    skip_verification: unverified,
  };

  for (const [name, stream] of Object.entries(arms)) globalThis[`stream_${name}`] = stream;

  /** What the streams since the last call of this did, as text in ASCII: assembled, hashed, verified. */
  globalThis.stream_done = () => {
    const text = [done.assembled, done.hashed, done.verified].join(' ');
    done.assembled = done.hashed = done.verified = 0;
    return Uint8Array.from(text, char => char.charCodeAt(0));
  };
})();
