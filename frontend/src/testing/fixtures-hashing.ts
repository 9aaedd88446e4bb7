/**
 * The hashing suite as it is declared: many arms, two params, and benchmarks without a numeric param. Figures are
 * made up.
 */
import type { Benchmark, Suite } from '../api/types';
import { suite } from './fixtures';

const BATCHES = [1, 10, 100, 1000, 2000, 5000, 10_000];
const MESSAGES = [32, 64, 150, 256, 1024];
const TIME: Benchmark['metrics'] = [
  { name: 'time', unit: 'ns', direction: 'lower' },
];

function param(
  name: string,
  values: (number | string)[],
  unit: string | null,
): Benchmark['params'][number] {
  const kind = typeof values[0] === 'number' ? 'int' : 'enum';
  return {
    name,
    kind,
    values,
    unit,
    description: null,
    minimum: null,
    maximum: null,
  };
}

export const LEDGER_ARMS = [
  'fallback',
  'native_each',
  'native',
  'native_array',
  'native_ffm',
  'native_list',
  'policy',
];

export const PIECE_ARMS = [
  'raw',
  'seed',
  'noslice',
  'reuse',
  'direct',
  'batch_8',
  'batch_16',
  'async',
  'native',
  'native_multi',
  'skip_verification',
];

export const ledgerBatch: Benchmark = {
  name: 'ledger_batch',
  title: 'Batch of ledger fingerprints',
  description: 'SHA-256 of a batch of small messages.',
  workload: 'ledger',
  arms: LEDGER_ARMS,
  reference: 'fallback',
  device_reference: 'fallback',
  params: [
    param('batch', BATCHES, 'fingerprints'),
    param('message', MESSAGES, 'bytes'),
  ],
  metrics: TIME,
  margin_percent: 2,
  device_margin_percent: 3,
};

export const seedProtocol: Benchmark = {
  name: 'seed_protocol',
  title: 'The origin’s protocol, replayed',
  description:
    'Five defects on purpose, beside the same work measured properly.',
  workload: 'ledger',
  arms: ['fallback', 'native'],
  reference: 'fallback',
  device_reference: 'fallback',
  params: [
    param('protocol', ['seed', 'paceline'], null),
    param('batch', [1000, 5000, 10_000], 'fingerprints'),
  ],
  metrics: TIME,
  margin_percent: 2,
  device_margin_percent: 3,
};

export const piece: Benchmark = {
  name: 'piece',
  title: 'SHA-1 of a 1 MiB piece, from JavaScript',
  description: 'QuickJS inside the JVM calls a hasher.',
  workload: 'piece',
  arms: PIECE_ARMS,
  reference: 'raw',
  device_reference: 'raw',
  params: [],
  metrics: [
    ...TIME,
    { name: 'js_thread', unit: 'ns', direction: 'lower' },
    { name: 'digest', unit: 'ns', direction: 'lower' },
    { name: 'call_time', unit: 'ns', direction: 'lower' },
  ],
  margin_percent: 2,
  device_margin_percent: 3,
};

export const hashingSuite: Suite = {
  ...suite,
  title: 'Hashing across JNI',
  benchmarks: [ledgerBatch, seedProtocol, piece],
  presets: [
    {
      name: 'first_look',
      title: 'First look',
      description: 'The real fingerprint at one batch size, in under a minute.',
      benchmarks: ['ledger_batch'],
      params: { batch: [1000], message: [150] },
      launches: 3,
      rounds: 12,
    },
  ],
};
