// The original's counters on the JavaScript side, as its native-hasher.ts keeps them: Date.now()
// around each call, and a log line after five seconds.
//
// `piece_instrumentation` measures what they cost. The line's format is the original's, which
// devices print and the log importer reads. One difference: the first period begins with the
// counters, so the first call prints nothing.
'use strict';

(() => {
  const MIB = 1024 * 1024;
  const megabytes = (bytes, digits) => (bytes / MIB).toFixed(digits);

  globalThis.instrumented = (hasher, everyMs, log) => {
    let calls = 0;
    let bytes = 0;
    let totalMs = 0;
    let longestMs = 0;
    let loggedAt = Date.now();

    const report = now => {
      const average = (totalMs / calls).toFixed(2);
      const throughput = totalMs > 0 ? megabytes(bytes / (totalMs / 1000), 1) : '0.0';
      log(
        `JSTorrent-JS: [NativeHasher] ${calls} hashes, ${megabytes(bytes, 1)}MB, ` +
          `avg ${average}ms, max ${longestMs}ms, throughput ${throughput}MB/s`,
      );
      calls = bytes = totalMs = longestMs = 0;
      loggedAt = now;
    };

    const sha1 = data => {
      const start = Date.now();
      const digest = hasher.sha1(data);
      const now = Date.now();
      const elapsed = now - start;
      calls++;
      bytes += data.byteLength;
      totalMs += elapsed;
      if (elapsed > longestMs) longestMs = elapsed;
      if (now - loggedAt >= everyMs && calls > 0) report(now);
      return digest;
    };
    return Object.freeze({ ...hasher, sha1 });
  };
})();
