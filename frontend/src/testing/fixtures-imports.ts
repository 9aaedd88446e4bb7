/** An imported document with a policy and two rows. */
import type { ImportDetail, ImportedRow, ImportPreview } from '../api/types';
import { minutesAgo } from './fixtures';

function row(change: Partial<ImportedRow> & { id: string }): ImportedRow {
  return {
    device: 'Xiaomi 13T Pro',
    model: '23078PND5G',
    api: 35,
    variant: 'warm-up (1 round)',
    warmup_rounds: 1,
    params: { batch: 1000 },
    arm: 'native',
    reference: 'fallback',
    value_ns: 13_430_000,
    value_printed: '13.43 ms',
    reference_ns: 11_930_000,
    reference_printed: '11.93 ms',
    delta_ns: 1_500_000,
    delta_words: '+1.5 ms',
    percent: 12.57,
    lower_percent: 12.49,
    upper_percent: 12.66,
    words: 'native 12.6 % slower than fallback',
    verdict: 'insufficient',
    why: 'insufficient: no samples, only averages: nobody knows how many',
    raw: ['Batch 1000: native  avg=13.43 ms (0.01 ms/hash)'],
    ...change,
  };
}

export const document: ImportDetail = {
  id: 'import-1',
  title: 'LightLedger, October',
  format: 'logcat',
  source: 'light-ledger.txt',
  sha256: 'ef'.repeat(32),
  imported_at: minutesAgo(40),
  imported_by: 'Ada',
  devices: ['Pixel 5 Emulator (API 34)', 'Xiaomi 13T Pro (API 35)'],
  why_no_verdict: '',
  runs: [],
  left_out: [],
  tool: null,
  facts: {},
  original_bytes: null,
  row_count: 2,
  rows: [
    row({
      id: '3.1',
    }),
    row({
      id: '3.2',
      params: { batch: 10_000 },
      value_printed: '57.05 ms',
      reference_printed: '66.79 ms',
      delta_words: '-9.74 ms',
      percent: -14.58,
      words: 'native 14.6 % faster than fallback',
      raw: ['Batch 10000: native  avg=57.05 ms (0.01 ms/hash)'],
    }),
  ],
  policy: {
    in_force: { minimum: 2000, warmup_rounds: 1 },
    unit: 'fingerprints',
    words: 'native from 2,000 fingerprints on, after 1 warm-up round',
    source_text: 'Minimalny batch dla ścieżki JNI: 2 000 odcisków',
    lines: [26, 27],
  },
  advice: [
    {
      target_id: 'target-3',
      target_name: 'sim-healthy',
      simulated: true,
      suite: 'hashing',
      policy: 'minimum_native_batch',
      params: { message: 150 },
      measured_at: minutesAgo(90),
      holds: false,
      words:
        'On sim-healthy (simulated) at message=150 native wins from 640 fingerprints',
      why: 'below 2,000 it gives away what native would win',
    },
    {
      target_id: null,
      target_name: 'Xiaomi 13T Pro (API 35)',
      simulated: false,
      suite: null,
      policy: null,
      params: {},
      measured_at: null,
      holds: null,
      words: 'On Xiaomi 13T Pro (API 35) nothing was measured here',
      why: 'insufficient: no samples of this device; its averages cannot say where native begins to win',
    },
  ],
  other_lines: ['Benchmark on 23078PND5G (API 35)'],
  why_no_samples: 'The app printed averages only: there is nothing to judge.',
};

/** A file of a tool that says neither its commit nor its branch. */
export const preview: ImportPreview = {
  tool: 'google-benchmark',
  version: '1.9.5',
  at: '2026-03-04T05:06:07Z',
  commit: null,
  branch: null,
  facts: { cpu: 'AMD EPYC' },
  case_count: 1,
  series_count: 2,
  units: ['ns'],
  series: ['time', 'cpu_time'].map((metric) => ({
    id: 'BM_sort/64',
    benchmark: 'BM_sort',
    arm: 'code',
    params: { value: '64' },
    metric,
    unit: 'ns',
    samples: 20,
    median: 332,
    outliers_mild: 1,
    outliers_severe: 0,
    summary: null,
  })),
  left_out: [
    {
      id: 'BM_fails',
      path: null,
      why: 'the tool reports a failure: no such file',
    },
  ],
};
