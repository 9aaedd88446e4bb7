import { screen, within } from '@testing-library/react';

import type { Gate } from '../../api/types';
import { samples } from '../../testing/fake-backend';
import { comparison } from '../../testing/fixtures-decisions';
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
    requires: [],
    op: '>=',
    level: 'required',
    target: 4.5,
    actual: 4.9,
    reached: 4.9 / 4.5,
    standing: 'pass',
    verdict: 'pass',
    reason: '4.9 >= 4.5 holds',
    waived: null,
    witness: null,
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

describe('a comparison that no rule watches', () => {
  it('has its verdict in brackets, which the page explains', async () => {
    renderApp('/runs/run-done-1', (backend) => {
      backend.reports.set('job-1', {
        ...hashingReport(),
        comparisons: [
          comparison(),
          comparison({ arm: 'portable', verdict: 'fail', decides: false }),
        ],
      });
    });
    const table = await screen.findByRole('table', { name: 'Verdicts' });
    expect(within(table).getByText('(fail)')).toBeInTheDocument();
    expect(within(table).getByText('pass')).toBeInTheDocument();
    expect(
      screen.getByText("Verdicts in brackets do not affect the run's verdict."),
    ).toBeInTheDocument();
  });
});

describe('what fails a run', () => {
  const failing = gate({ verdict: 'fail', reason: '4.9 >= 6 does not hold' });

  it('is waived for a commit with a reason, and stays visible', async () => {
    const named = { ...failing, name: 'large_batches' };
    const { backend, user } = open([named, gate({ arm: 'fallback' })]);
    const panel = within(
      await screen.findByRole('region', { name: 'Waivers' }),
    );
    const options = panel.getByLabelText('What fails');
    expect(within(options).getByRole('option')).toHaveTextContent(
      /native: gate large_batches$/,
    );
    await user.selectOptions(panel.getByLabelText('Waive it in'), 'commit');
    expect(panel.getByRole('button', { name: 'Waive' })).toBeDisabled();
    await user.type(panel.getByLabelText(/Reason/), 'the pool is rewritten');
    await user.click(panel.getByRole('button', { name: 'Waive' }));
    expect(
      await screen.findByText(/waived by Ada: the pool is rewritten/),
    ).toBeInTheDocument();
    expect(backend.waivers).toMatchObject([
      {
        kind: 'gate',
        arm: 'native',
        run_id: 'run-done-1',
        commits: ['3f6c9b1d7e2a4c5580a1'],
      },
    ]);
    const [first] = rows(screen.getByRole('table', { name: 'Gates' }));
    expect(first).toHaveTextContent(/^fail.*waived.*large_batches/);
    expect(screen.queryByLabelText('What fails')).not.toBeInTheDocument();
  });

  it('offers no waiver to those who may not triage', async () => {
    renderApp('/runs/run-done-1', (backend) => {
      if (backend.session === null) throw new Error('nobody is signed in');
      backend.session = { ...backend.session, permissions: ['project.read'] };
      backend.reports.set('job-1', {
        ...hashingReport(),
        gates: [failing],
        comparisons: [],
      });
    });
    await screen.findByRole('table', { name: 'Gates' });
    expect(
      screen.queryByRole('region', { name: 'Waivers' }),
    ).not.toBeInTheDocument();
  });
});

describe('an arm that never ran', () => {
  it('is said beside the verdicts, and is nothing to waive', async () => {
    const words = 'native was built, and never called: its counter calls is 0';
    renderApp('/runs/run-done-1', (backend) => {
      const report = hashingReport();
      const [row] = report.comparisons;
      if (row === undefined) throw new Error('nothing is compared');
      backend.reports.set('job-1', {
        ...report,
        witnesses: [
          {
            benchmark: 'ledger_batch',
            params: { batch: 1000 },
            arm: 'native',
            verdict: 'fail',
            words,
          },
        ],
        gates: [gate({ verdict: 'fail', witness: 'fail', reason: words })],
        comparisons: [
          { ...row, verdict: 'fail', witness: 'fail', reason: words },
        ],
      });
    });
    const list = await screen.findByRole('list', { name: 'Witnesses' });
    expect(list).toHaveTextContent(
      `failledger_batchnativeat batch 1,000${words}`,
    );
    expect(
      screen.queryByRole('region', { name: 'Waivers' }),
    ).not.toBeInTheDocument();
  });
});

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
      screen.getByText('Required: 1 of 1 met. Stretch: 0 of 1 met.'),
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
      screen.getByRole('columnheader', { name: 'Of the limit' }),
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
    expect(screen.getByText('Required: 1 of 2 met.')).toBeInTheDocument();
  });

  it('have no column for how near a figure is where none of them says it', async () => {
    open([gate({ standing: null, reached: null })]);
    const table = within(await screen.findByRole('table', { name: 'Gates' }));
    const headers = table
      .getAllByRole('columnheader')
      .map(({ textContent }) => textContent);
    expect(headers).toEqual([
      'Verdict',
      'Measurement',
      'Limit',
      'Actual',
      'Reason',
    ]);
  });

  it('do not count what this target cannot run', async () => {
    open([
      gate({}),
      gate({ arm: 'native_ffm', verdict: 'not_applicable', actual: null }),
    ]);
    expect(
      await screen.findByText('Required: 1 of 1 met.'),
    ).toBeInTheDocument();
    const [, second] = rows(screen.getByRole('table', { name: 'Gates' }));
    expect(second).toHaveTextContent(/^not applicable/);
  });

  it('say which CPUs a level is for, and why it is not for this one', async () => {
    const reason = 'not for this CPU (needs avx512bw)';
    const { user } = open([
      gate({ requires: ['sha_ni', '!avx512bw'] }),
      gate({
        requires: ['avx512bw'],
        verdict: 'not_applicable',
        actual: null,
        reason,
      }),
    ]);
    expect(
      await screen.findByText('CPUs with sha_ni, no avx512bw'),
    ).toBeInTheDocument();
    expect(rows(screen.getByRole('table', { name: 'Gates' }))).toHaveLength(1);
    expect(screen.getByText(reason)).not.toBeVisible();
    await user.click(screen.getByText('1 level for other CPUs'));
    expect(screen.getByText(reason)).toBeVisible();
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
      // The server returns all measurements of the base before those of the head.
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
      screen.getByRole('link', { name: 'Compare revisions' }),
    ).toHaveAttribute(
      'href',
      `/compare?base=${'a'.repeat(40)}&head=${'b'.repeat(40)}&suite=hashing`,
    );
    expect(screen.queryByText(/same artifact/)).not.toBeInTheDocument();
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
      screen.queryByRole('link', { name: 'Show history' }),
    ).not.toBeInTheDocument();
  });

  it('say so when both sides ran the same bytes', async () => {
    openAb(true, 'b'.repeat(40));
    expect(
      await screen.findByText(/Both sides ran the same artifact/),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('link', { name: 'Compare revisions' }),
    ).not.toBeInTheDocument();
  });
});

/** Returns a cell of a table, once it is there. */
async function findCell(table: string, text: string): Promise<HTMLElement> {
  return within(await screen.findByRole('table', { name: table })).findByText(
    text,
  );
}

describe('the measurements of an ordinary job', () => {
  it('have the text of a name with a digest, as their samples and what is said about the run do, and the name as its title', async () => {
    const names = { benchmark: 'b__0123456789abcdef', arm: 'n_8__76543210' };
    renderApp('/runs/run-done-1', (backend) => {
      const plain = hashingReport();
      const [measurement] = plain.measurements;
      if (measurement === undefined) throw new Error('nothing measured');
      backend.reports.set('job-1', {
        ...plain,
        measurements: [{ ...measurement, ...names }],
        name_texts: { [names.benchmark]: '解析', [names.arm]: 'n<=8' },
      });
      const [series] = samples(100);
      if (series === undefined) throw new Error('nothing measured');
      backend.series.set('job-1', [{ ...series, ...names }]);
      backend.runs = backend.runs.map((run) => ({
        ...run,
        benchmarks: ['ledger_batch', names.benchmark],
      }));
    });
    for (const cell of [
      await findCell('Measurements', '解析'),
      await findCell('Samples per case', '解析'),
      within(await screen.findByRole('region', { name: 'About' })).getByText(
        '解析',
      ),
    ])
      expect(cell).toHaveAttribute('title', names.benchmark);
    for (const cell of [
      await findCell('Measurements', 'n<=8'),
      await findCell('Samples per case', 'n<=8'),
    ])
      expect(cell).toHaveAttribute('title', names.arm);
  });

  it('lead to their history', async () => {
    renderApp('/runs/run-done-1');
    expect(
      await screen.findByRole('link', { name: 'Show history' }),
    ).toHaveAttribute('href', '/series?suite=hashing&target=target-1');
  });
});

describe('what was certain before all planned launches', () => {
  it('is named with what that saved', async () => {
    const words = 'Measured 2 of 5 launches (60.0 % of the planned …).';
    renderApp('/runs/run-done-1', (backend) => {
      backend.reports.set('job-1', {
        ...hashingReport(),
        saved: {
          words,
          launches: 2,
          planned: 5,
          saved_percent: 60,
          benchmarks: [{ benchmark: 'ledger_batch', launches: 2, planned: 5 }],
        },
      });
    });
    expect(await screen.findByText(words)).toBeInTheDocument();
  });
});

describe('what is the same at base and head', () => {
  it('is named with the reason why it was not measured again', async () => {
    const words = 'Not measured again, because …: ledger_batch.';
    renderApp('/runs/run-done-1', (backend) => {
      backend.reports.set('job-1', {
        ...hashingReport(),
        base: { revision: 'b1', artifact_hash: null, same_artifact: true },
        unaffected: { words, digests: { ledger_batch: 'd1' }, gates: 0 },
        comparisons: [],
        gates: [],
        measurements: [],
      });
    });
    const panel = within(
      await screen.findByRole('region', { name: 'Verdicts' }),
    );
    expect(panel.getByText(words)).toBeInTheDocument();
    expect(panel.getByText(/does not affect/)).toBeInTheDocument();
    expect(panel.queryByText(/ran the same artifact/)).not.toBeInTheDocument();
  });
});
