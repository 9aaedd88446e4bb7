// Generates src/api/schema.gen.ts from the committed backend/openapi.json (contract C2).
// `--check` writes nothing and fails when the committed file differs. Never edit the generated file by hand.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const source = process.env.PACELINE_OPENAPI
  ? new URL(`file://${process.env.PACELINE_OPENAPI}`)
  : new URL('../../backend/openapi.json', import.meta.url);
const target = fileURLToPath(
  new URL('../src/api/schema.gen.ts', import.meta.url),
);

const document = JSON.parse(await readFile(source, 'utf8'));
const header =
  '// Generated from backend/openapi.json by `npm run api`. Do not edit.\n\n';
const text = header + astToString(await openapiTS(document));

if (process.argv.includes('--check')) {
  const committed = await readFile(target, 'utf8').catch(() => '');
  if (committed !== text) {
    console.error(
      'src/api/schema.gen.ts does not match backend/openapi.json: run `npm run api` and commit it.',
    );
    process.exit(1);
  }
} else {
  await writeFile(target, text);
}
