import { screen, within } from '@testing-library/react';

import type { Comparison, Reason } from '../../api/types';
import { renderApp } from '../../testing/render-app';
import { hashingReport } from '../../testing/scenario-hashing';

const CAUSE = 'the interval crosses the 2 % margin';

function reason(change: Partial<Reason>): Reason {
  return {
    kind: 'arm',
    verdict: 'inconclusive',
    text: `ledger_batch batch=10: native - ${CAUSE} (and 1 more)`,
    count: 2,
    cause: CAUSE,
    cases: ['ledger_batch batch=10: native', 'ledger_batch batch=100: native'],
    next_step: 'Repeat with 20 launches (`--launches 20`).',
    launches: 20,
    ...change,
  };
}

const undecided = (row: Comparison, change: Partial<Comparison>) => ({
  ...row,
  ...change,
});

/** Opens a report in which every comparison is undecided for these reasons. */
function open(reasons: Reason[]) {
  return renderApp('/runs/run-done-1', (backend) => {
    const report = hashingReport();
    backend.reports.set('job-1', {
      ...report,
      reasons,
      comparisons: report.comparisons.map((row) =>
        undecided(row, { verdict: 'inconclusive', reason: CAUSE }),
      ),
    });
  });
}

const panel = async () =>
  within(await screen.findByRole('region', { name: 'Why it is undecided' }));

describe('why a job is undecided', () => {
  it('says one cause once for all of its rows, with its cases and the next step', async () => {
    open([reason({})]);
    const why = await panel();
    expect(why.getAllByRole('list', { name: 'Cases' })[0]).toHaveTextContent(
      'batch=10: nativeledger_batch batch=100: native',
    );
    expect(why.getByText(/--launches 20/)).toBeInTheDocument();
    expect(screen.getAllByText(CAUSE, { exact: false })).toHaveLength(1);
  });

  it('repeats the run with the launches that would decide it', async () => {
    const { user } = open([reason({})]);
    const link = (await panel()).getByRole('link', {
      name: 'Repeat with 20 launches',
    });
    await user.click(link);
    expect(
      await screen.findByRole('textbox', { name: /Launches/ }),
    ).toHaveValue('20');
  });

  it('names every cause, and folds many cases without losing one', async () => {
    const cases = Array.from({ length: 18 }, (_, n) => `sort n=${n}: native`);
    open([
      reason({ cases, count: 18, launches: null }),
      reason({ cause: 'the target restarted', cases: [], kind: 'blocker' }),
    ]);
    const why = await panel();
    expect(why.getByText('18 cases')).toBeInTheDocument();
    expect(
      within(why.getByRole('list', { name: 'Cases' })).getAllByRole(
        'listitem',
        {
          hidden: true,
        },
      ),
    ).toHaveLength(18);
    expect(why.getAllByRole('link')).toHaveLength(1);
  });
});
