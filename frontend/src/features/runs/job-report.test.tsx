import { screen, within } from '@testing-library/react';

import type { Gate } from '../../api/types';
import { hashingReport } from '../../testing/scenario-hashing';
import { renderApp } from '../../testing/render-app';

function gate(change: Partial<Gate>): Gate {
  return {
    name: null,
    description: null,
    lower: null,
    upper: null,
    benchmark: 'ledger_batch',
    arm: 'native',
    params: { batch: 1000, message: 150 },
    metric: 'time',
    statistic: 'median',
    absolute: false,
    op: '>=',
    level: 'required',
    target: 4.5,
    actual: 4.9,
    reached: 4.9 / 4.5,
    standing: 'pass',
    verdict: 'pass',
    reason: '4.9 >= 4.5 holds',
    derived: 'native_gain',
    ...change,
  };
}

function open(gates: Gate[]) {
  return renderApp('/runs/run-done-1', (backend) => {
    backend.reports.set('job-1', {
      ...hashingReport(),
      gates,
      measurements: [],
      comparisons: [],
    });
  });
}

const rows = (table: HTMLElement) => within(table).getAllByRole('row').slice(1);

describe('the gates of a run', () => {
  it('show a stretch level that is not met as an aim, not as a failure', async () => {
    open([
      gate({
        level: 'stretch',
        target: 5.8,
        verdict: 'fail',
        reason: '4.9 >= 5.8 does not hold',
      }),
      gate({}),
    ]);
    const table = await screen.findByRole('table', { name: 'Gates' });
    const [required, stretch] = rows(table);
    expect(required).toHaveTextContent(/^passrequiredledger_batch · native/);
    expect(stretch).toHaveTextContent(/^not metstretch/);
    expect(within(table).queryByText('fail')).not.toBeInTheDocument();
    expect(
      screen.getByText(
        'Required: 1 of 1 hold. Stretch: 0 of 1 met; one that is not met fails nothing.',
      ),
    ).toBeInTheDocument();
  });

  it('say how near a figure is to its level where nothing may be decided', async () => {
    open([
      gate({
        verdict: 'inconclusive',
        standing: 'close',
        reached: 0.73,
        reason: 'imported',
      }),
    ]);
    const [only] = rows(await screen.findByRole('table', { name: 'Gates' }));
    expect(only).toHaveTextContent('inconclusive');
    expect(only).toHaveTextContent('close, 73 %');
    expect(
      screen.getByRole('columnheader', { name: 'Of the level' }),
    ).toBeInTheDocument();
  });

  it('name the derived metric that must hold, and put what does not hold first', async () => {
    open([
      gate({}),
      gate({ target: 6, verdict: 'fail', reason: '4.9 >= 6 does not hold' }),
    ]);
    const [first] = rows(await screen.findByRole('table', { name: 'Gates' }));
    expect(first).toHaveTextContent('native_gain >= 6');
    expect(within(first as HTMLElement).getByText('fail')).toBeInTheDocument();
    expect(screen.getByText('Required: 1 of 2 hold.')).toBeInTheDocument();
  });

  it('have no column for how near a figure is where none of them says it', async () => {
    open([gate({ standing: null, reached: null })]);
    const table = within(await screen.findByRole('table', { name: 'Gates' }));
    const headers = table
      .getAllByRole('columnheader')
      .map(({ textContent }) => textContent);
    expect(headers).toEqual(['Verdict', 'Of', 'Must hold', 'Actual', 'Reason']);
  });

  it('do not count what this target cannot run', async () => {
    open([
      gate({}),
      gate({ arm: 'native_ffm', verdict: 'not_applicable', actual: null }),
    ]);
    expect(
      await screen.findByText('Required: 1 of 1 hold.'),
    ).toBeInTheDocument();
    const [, second] = rows(screen.getByRole('table', { name: 'Gates' }));
    expect(second).toHaveTextContent(/^not applicable/);
  });
});

describe('what a run found out about itself', () => {
  it('names the audit’s defects and the arms that could not run', async () => {
    open([]);
    expect(
      await screen.findByRole('heading', { name: 'Audit of the measurement' }),
    ).toBeInTheDocument();
    expect(screen.getByText('warm-up in the timer')).toBeInTheDocument();
    const unavailable = within(
      screen.getByRole('list', { name: 'Unavailable arms' }),
    );
    expect(unavailable.getByText('native_ffm')).toBeInTheDocument();
    expect(
      unavailable.getByText('needs Java 22 or newer; this is Java 17'),
    ).toBeInTheDocument();
  });

  it('writes derived figures as their kind is read', async () => {
    open([]);
    const table = within(
      await screen.findByRole('table', { name: 'Derived metrics' }),
    );
    const row = (name: string) => table.getByText(name).closest('tr');
    expect(row('gain_native_multi')).toHaveTextContent('6.43×6.37× – 6.50×');
    expect(row('ffi_overhead_seed')).toHaveTextContent('17.4 %17.1 % – 17.8 %');
    expect(row('crossover_native_each')).toHaveTextContent(
      'none–native_each never crosses fallback',
    );
  });
});

function openAb(sameArtifact: boolean, baseRevision = 'a'.repeat(40)) {
  return renderApp('/runs/run-done-1', (backend) => {
    const plain = hashingReport();
    const [measurement] = plain.measurements;
    if (measurement === undefined) throw new Error('nothing measured');
    backend.reports.set('job-1', {
      ...plain,
      revision: 'b'.repeat(40),
      base: {
        revision: baseRevision,
        artifact_hash: null,
        same_artifact: sameArtifact,
      },
      gates: [],
      derived: [],
      // As the server gives them: all of the base, then all of the head.
      measurements: (['base', 'head'] as const).flatMap((side) =>
        [measurement, { ...measurement, arm: 'other' }].map((row) =>
          Object.assign({}, row, { side }),
        ),
      ),
      comparisons: plain.comparisons.slice(0, 1).map((row) =>
        Object.assign({}, row, {
          sides: 'revisions' as const,
          reference: 'base',
        }),
      ),
    });
  });
}

describe('the results of an A/B job', () => {
  it('are of the head against its base, and lead to the comparison of the two', async () => {
    openAb(false);
    expect(
      await screen.findByText(/The head against its base/),
    ).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'Compare the two revisions' }),
    ).toHaveAttribute(
      'href',
      `/compare?base=${'a'.repeat(40)}&head=${'b'.repeat(40)}&suite=hashing`,
    );
    expect(screen.queryByText(/same bytes/)).not.toBeInTheDocument();
  });

  it('say which side each measurement is of, and lead to no history', async () => {
    openAb(false);
    const table = await screen.findByRole('table', { name: 'Measurements' });
    const sides = within(table).getAllByRole('row').slice(1);
    expect(sides.map((row) => row.firstElementChild?.textContent)).toEqual([
      'base',
      'head',
      'base',
      'head',
    ]);
    expect(
      screen.queryByRole('link', { name: 'See their history' }),
    ).not.toBeInTheDocument();
  });

  it('say so when both sides ran the same bytes', async () => {
    openAb(true, 'b'.repeat(40));
    expect(
      await screen.findByText(/Both sides ran the same bytes/),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('link', { name: 'Compare the two revisions' }),
    ).not.toBeInTheDocument();
  });
});

describe('the measurements of an ordinary job', () => {
  it('lead to their history', async () => {
    renderApp('/runs/run-done-1');
    expect(
      await screen.findByRole('link', { name: 'See their history' }),
    ).toHaveAttribute('href', '/series?suite=hashing&target=target-1');
  });
});
