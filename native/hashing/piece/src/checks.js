// Every function of every path that hashes without Kotlin, as one line of text per digest.
'use strict';

globalThis.check_one = async data => {
  const hex = digest => Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
  const found = [];
  for (const name of ['native', 'nativeCrew']) {
    const path = NativeHasher.paths[name];
    found.push([`${name}.sha1`, path.sha1(data)]);
    path.sha1Batch([data, data, data]).forEach(digest => found.push([`${name}.sha1Batch`, digest]));
    found.push([`${name}.sha1Async`, await path.sha1Async(data)]);
  }
  const text = found.map(([name, digest]) => `${name} ${hex(digest)}`).join('\n');
  return Uint8Array.from(text, char => char.charCodeAt(0));
};
