// Checks the imports of src/: which room may import which, and that no files import each other in a circle.
// Rooms: lib, ui, charts, api ← features ← app. No feature imports another feature, only charts/ imports
// recharts, and no file re-exports another. Type imports count too. Reads import specifiers as text.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const MAY_IMPORT = {
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
const REEXPORT = /(?:^|\n)export\s+(?:\*|\{[^}]*\})\s+from\s/;

async function sourceFiles(folder) {
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

/** Why a file may not import this, or null. */
function refusal(path, specifier) {
  const from = roomOf(path);
  const isTest = /\.test\.tsx?$/.test(path);
  if (specifier === 'recharts' && from.room !== 'charts')
    return 'only charts/ imports recharts';
  if (!specifier.startsWith('.')) return null;
  const to = roomOf(join(dirname(path), specifier));
  if (isTest && to.room === 'testing') return null;
  if (!(MAY_IMPORT[from.room] ?? []).includes(to.room))
    return `${from.room}/ may not import ${to.room}/`;
  if (
    from.feature !== null &&
    to.room === 'features' &&
    from.feature !== to.feature
  )
    return 'a feature may not import another feature';
  return null;
}

/** The source file a relative specifier names; undefined for packages and style sheets. */
function resolved(path, specifier) {
  if (!specifier.startsWith('.')) return undefined;
  const target = join(dirname(path), specifier);
  return [`${target}.ts`, `${target}.tsx`].find((file) => existsSync(file));
}

/** Each circle once, as the files in the order they import each other. */
export function circles(imports) {
  const state = new Map();
  const stack = [];
  const found = [];
  const visit = (file) => {
    state.set(file, 'open');
    stack.push(file);
    for (const next of imports.get(file) ?? []) {
      if (state.get(next) === 'open')
        found.push([...stack.slice(stack.indexOf(next)), next]);
      else if (!state.has(next)) visit(next);
    }
    stack.pop();
    state.set(file, 'done');
  };
  for (const file of imports.keys()) if (!state.has(file)) visit(file);
  return found;
}

export async function violations() {
  const problems = [];
  const imports = new Map();
  for (const path of await sourceFiles(SRC)) {
    const name = relative(SRC, path);
    const text = await readFile(path, 'utf8');
    if (!name.endsWith('.gen.ts') && REEXPORT.test(text))
      problems.push(`${name}: re-exports another file`);
    const targets = [];
    for (const match of text.matchAll(IMPORT)) {
      const specifier = match[1] ?? match[2] ?? match[3];
      const reason = refusal(path, specifier);
      if (reason !== null) problems.push(`${name}: ${specifier}: ${reason}`);
      const target = resolved(path, specifier);
      if (target !== undefined) targets.push(target);
    }
    imports.set(path, targets);
  }
  for (const circle of circles(imports)) {
    const names = circle.map((file) => relative(SRC, file));
    problems.push(`import circle: ${names.join(' → ')}`);
  }
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await violations();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
}
