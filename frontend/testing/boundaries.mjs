// Who may import whom in src/ (DESIGN §3): lib, ui, charts, api ← features ← app. No feature imports a
// feature,
// only charts/ imports recharts, and no file is a barrel. Reads import specifiers as text; resolves nothing.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const MAY = {
  lib: ['lib'],
  api: ['api', 'lib'],
  charts: ['charts', 'lib'],
  ui: ['ui', 'lib', 'api'],
  features: ['features', 'ui', 'charts', 'api', 'lib'],
  app: ['app', 'features', 'ui', 'charts', 'api', 'lib'],
  testing: ['testing', 'app', 'api', 'lib'],
};
const IMPORT =
  /(?:^|[\n;])\s*(?:import|export)\b[^'"]*?from\s*['"]([^'"]+)['"]|import\s*\(\s*['"]([^'"]+)['"]\s*\)|(?:^|[\n;])\s*import\s+['"]([^'"]+)['"]/g;
const BARREL = /(?:^|\n)export\s+(?:\*|\{[^}]*\})\s+from\s/;

async function files(folder) {
  const entries = await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function roomOf(path) {
  const parts = relative(SRC, path).split('/');
  return parts.length === 1
    ? { room: 'app', feature: null }
    : { room: parts[0], feature: parts[0] === 'features' ? parts[1] : null };
}

function judge(path, specifier) {
  const from = roomOf(path);
  const isTest = /\.test\.tsx?$/.test(path);
  if (specifier === 'recharts' && from.room !== 'charts')
    return 'only charts/ imports recharts';
  if (!specifier.startsWith('.')) return null;
  const to = roomOf(join(dirname(path), specifier));
  if (isTest && to.room === 'testing') return null;
  if (!(MAY[from.room] ?? []).includes(to.room))
    return `${from.room}/ may not import ${to.room}/`;
  if (
    from.feature !== null &&
    to.room === 'features' &&
    from.feature !== to.feature
  )
    return 'a feature may not import a feature';
  return null;
}

export async function violations() {
  const found = [];
  for (const path of await files(SRC)) {
    const name = relative(SRC, path);
    const text = await readFile(path, 'utf8');
    if (!name.endsWith('.gen.ts') && BARREL.test(text))
      found.push(`${name}: re-exports are barrels`);
    for (const match of text.matchAll(IMPORT)) {
      const reason = judge(path, match[1] ?? match[2] ?? match[3]);
      if (reason !== null)
        found.push(`${name}: ${match[1] ?? match[2] ?? match[3]}: ${reason}`);
    }
  }
  return found;
}

const found = await violations();
for (const line of found) console.error(line);
if (found.length > 0) process.exit(1);
