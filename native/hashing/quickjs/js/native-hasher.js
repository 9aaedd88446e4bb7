// NativeHasher: SHA-1 of pieces for an application's scripts, over the functions of `paceline`
// (src/bindings.rs).
//
// A *path* says how the bytes of a piece reach the code that digests them; every path offers the
// same functions. `data` is a Uint8Array, a digest is a Uint8Array of 20 bytes, and a wrong
// argument throws (or rejects) before anything is hashed. While a piece is hashed asynchronously
// its buffer is immutable: writing, transferring or slicing it throws.
'use strict';

(() => {
  /** The original's way to honour byteOffset: always copies (its copy #1). */
  const sliceAlways = data => data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);

  /** The original's first optimisation: copies only a view into a larger buffer. */
  const sliceViews = data =>
    data.byteOffset === 0 && data.byteLength === data.buffer.byteLength ? data.buffer : sliceAlways(data);

  /** The native side reads the view where it lies. */
  const asItLies = data => data;

  const mustBeBytes = data => {
    if (!(data instanceof Uint8Array)) throw new TypeError('data: expected a Uint8Array');
    return data;
  };

  function path({ prepare, one, many, async }) {
    const ready = data => prepare(mustBeBytes(data));
    const digestOf = buffer => new Uint8Array(buffer);
    return Object.freeze({
      sha1: data => digestOf(one(ready(data))),
      sha1Batch: pieces =>
        many ? many(pieces.map(ready)).map(digestOf) : pieces.map(data => digestOf(one(ready(data)))),
      /** Returns at once; `done(error, digest)` runs in a later turn, in no particular order. */
      sha1Later: (data, done) => async(data, (error, digest) => done(error, digest && digestOf(digest))),
      sha1Async: data =>
        new Promise((resolve, reject) =>
          async(data, (error, digest) => (error ? reject(error) : resolve(digestOf(digest)))),
        ),
    });
  }

  const { sha1Copied, sha1Reused, sha1Direct, sha1Native } = paceline;
  const { sha1BatchCopied, sha1BatchLanes, sha1BatchCrew, sha1AsyncDirect, sha1AsyncNative } = paceline;
  const inKotlin = { many: sha1BatchCopied, async: sha1AsyncDirect };
  const inRust = { prepare: asItLies, one: sha1Native, async: sha1AsyncNative };

  const paths = Object.freeze({
    // slice, SetByteArrayRegion and JS_NewArrayBufferCopy: the three copies of the original
    seed: path({ ...inKotlin, prepare: sliceAlways, one: sha1Copied }),
    noslice: path({ ...inKotlin, prepare: sliceViews, one: sha1Copied }),
    reuse: path({ ...inKotlin, prepare: sliceViews, one: sha1Reused }),
    direct: path({ prepare: asItLies, one: sha1Direct, async: sha1AsyncDirect }),
    // Digested in the library: a batch side by side on this thread, or on several
    native: path({ ...inRust, many: sha1BatchLanes }),
    nativeCrew: path({ ...inRust, many: sha1BatchCrew }),
  });

  globalThis.NativeHasher = Object.freeze({ ...paths.direct, paths });
})();
