import {
  ledgerBatch,
  piece,
  seedProtocol,
} from '../../testing/fixtures-hashing';
import { hashingReport } from '../../testing/scenario-hashing';
import type { Params } from '../../lib/params';
import { collectEvidence, jobsOf } from './report-evidence';
import { isDerivedRowShown, isShown, toggleArm, viewOf } from './arms-view';

const POINTS = [1000, 1, 5000].flatMap((batch) =>
  [32, 150, 1024].map((message) => ({ batch, message })),
);

function all(points: readonly Params[]) {
  return { measured: points, drawable: points };
}

describe('what is drawn', () => {
  it('takes the first param with several numbers for the x axis and the middle of the others', () => {
    const view = viewOf(ledgerBatch, all(POINTS), {});
    expect(view.x).toBe('batch');
    expect(view.xUnit).toBe('fingerprints');
    expect(view.fixed).toMatchObject([
      { name: 'message', value: 150, values: [32, 150, 1024] },
    ]);
  });

  it('offers no axis for a param of which one value was measured', () => {
    const view = viewOf(ledgerBatch, all([{ batch: 1000, message: 150 }]), {
      x: 'batch',
    });
    expect(view.x).toBeUndefined();
    expect(view.fixed.map(({ value }) => value)).toEqual([1000, 150]);
  });

  it('orders words as they are declared and takes the first', () => {
    const points = ['paceline', 'seed'].flatMap((protocol) =>
      [1000, 5000].map((batch) => ({ protocol, batch })),
    );
    expect(viewOf(seedProtocol, all(points), {}).fixed).toMatchObject([
      { name: 'protocol', values: ['seed', 'paceline'], value: 'seed' },
    ]);
  });

  it('opens where something can be drawn', () => {
    const measured = ['seed', 'paceline'].flatMap((protocol) =>
      [1000, 5000].map((batch) => ({ protocol, batch })),
    );
    const drawable = measured.filter(({ protocol }) => protocol === 'paceline');
    expect(
      viewOf(seedProtocol, { measured, drawable }, {}).fixed,
    ).toMatchObject([{ values: ['seed', 'paceline'], value: 'paceline' }]);
  });

  it('has nothing to choose where nothing varies', () => {
    expect(viewOf(piece, all([{}]), { at: 'message=150', x: 'batch' })).toEqual(
      {
        xChoices: [],
        x: undefined,
        xUnit: null,
        fixed: [],
      },
    );
  });

  it('shows rows at the chosen values, and of those derived over the axis none that names it', () => {
    const view = viewOf(ledgerBatch, all(POINTS), { at: 'message=32' });
    expect(isShown(view, { batch: 1, message: 32 })).toBe(true);
    expect(isShown(view, { batch: 1, message: 150 })).toBe(false);
    expect(isDerivedRowShown(view, { message: 32 })).toBe(true);
    expect(isDerivedRowShown(view, { batch: 1, message: 32 })).toBe(false);
  });

  it('forgets the list of hidden arms when the last one is shown again', () => {
    expect(toggleArm(new Set(['native']), 'policy')).toBe('native,policy');
    expect(toggleArm(new Set(['native']), 'native')).toBeUndefined();
  });
});

function crossover(...reports: Parameters<typeof collectEvidence>[0]) {
  return collectEvidence(reports, 'ledger_batch').derived.map(
    ({ value }) => value,
  );
}

describe('what stands beside the comparisons', () => {
  const report = hashingReport();
  const withCrossover = (value: number | null, answered: boolean) => ({
    ...report,
    derived: report.derived
      .filter(({ name }) => name === 'crossover_native')
      .map((row) => Object.assign({}, row, { value, answered })),
  });
  it('believes the newest job that could know', () => {
    expect(crossover(withCrossover(2, true), withCrossover(10, true))).toEqual([
      2,
    ]);
    expect(
      crossover(withCrossover(null, true), withCrossover(10, true)),
    ).toEqual([null]);
  });

  it('does not let a job that measured one value only take an answer back', () => {
    expect(
      crossover(withCrossover(null, false), withCrossover(10, true)),
    ).toEqual([10]);
  });

  it('keeps to the benchmark that is shown', () => {
    expect(
      new Set(
        collectEvidence([report], 'piece').measurements.map(
          (row) => row.benchmark,
        ),
      ),
    ).toEqual(new Set(['piece']));
  });

  it('reads the newest job first', () => {
    const [row] = report.comparisons;
    if (row === undefined) throw new Error('no comparison');
    const at = (id: string, measured: string) =>
      Object.assign({}, row, { job_id: id, measured_at: measured });
    expect(
      jobsOf([
        at('old', '2026-01-01T00:00:00Z'),
        at('new', '2026-01-02T00:00:00Z'),
        at('old', '2026-01-01T00:00:00Z'),
      ]),
    ).toEqual(['new', 'old']);
  });
});

function auditsOf(...reports: Parameters<typeof collectEvidence>[0]) {
  return collectEvidence(reports, 'seed_protocol').audits;
}

function reasonsOf(...reports: Parameters<typeof collectEvidence>[0]) {
  return collectEvidence(reports, 'ledger_batch').unavailable.map(
    ({ reason }) => reason,
  );
}

describe('what older jobs complained of', () => {
  const report = hashingReport();
  const audited = report.audits?.[0];
  const point = { batch: 1, message: 32 };
  const elsewhere = { batch: 5000, message: 1024 };
  const [measurement] = report.measurements;
  if (measurement === undefined || audited === undefined)
    throw new Error('nothing measured or audited');
  const measures = (benchmark: string, arm: string, params: Params) => ({
    ...report,
    measurements: [{ ...measurement, benchmark, arm, params }],
    audits: [],
    unavailable: [],
    witnesses: [],
  });
  const cannotRun = (params: Params, reason: string) => ({
    ...report,
    measurements: [],
    unavailable: [
      { benchmark: 'ledger_batch', arm: 'native_ffm', params, reason },
    ],
  });

  it('drops the defects of a group that a newer job measured without any', () => {
    const { params } = audited;
    expect(
      auditsOf(measures('seed_protocol', 'native', params), report),
    ).toEqual([]);
    const turned = Object.fromEntries(Object.entries(params).toReversed());
    expect(
      auditsOf(measures('seed_protocol', 'native', turned), report),
    ).toEqual([]);
  });

  it('keeps the defects of a group that no newer job measured', () => {
    const { params } = audited;
    expect(auditsOf(report)).toEqual([audited]);
    expect(
      auditsOf(
        measures('seed_protocol', 'native', { ...params, batch: 2 }),
        report,
      ),
    ).toEqual([audited]);
    expect(auditsOf(measures('piece', 'native', params), report)).toEqual([
      audited,
    ]);
    expect(
      auditsOf(report, measures('seed_protocol', 'native', params)),
    ).toEqual([audited]);
  });

  it('shows the newest defects of a group, once', () => {
    const newer = { ...audited, naive: 'the newer one' };
    expect(auditsOf({ ...report, audits: [newer] }, report)).toEqual([newer]);
  });

  it('drops an arm that could not run where a newer job measured it', () => {
    const measured = measures('ledger_batch', 'native_ffm', point);
    expect(reasonsOf(measured, cannotRun(point, 'no library'))).toEqual([]);
    expect(reasonsOf(measured, cannotRun({}, 'needs Java 22'))).toEqual([]);
  });

  it('keeps an arm that could not run where only others, or other points, were measured since', () => {
    const old = cannotRun(point, 'no library');
    expect(reasonsOf(measures('ledger_batch', 'native', point), old)).toEqual([
      'no library',
    ]);
    expect(
      reasonsOf(measures('ledger_batch', 'native_ffm', elsewhere), old),
    ).toEqual(['no library']);
    expect(
      reasonsOf(
        cannotRun(point, 'gone'),
        measures('ledger_batch', 'native_ffm', point),
      ),
    ).toEqual(['gone']);
    expect(reasonsOf(cannotRun(point, 'newer'), old)).toEqual(['newer']);
  });
});
