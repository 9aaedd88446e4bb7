import { screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';

import { addChangeScenario } from '../../testing/scenario-change';
import { changeAlert, foundBisection } from '../../testing/fixtures-changes';
import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';
import type { FakeBackend } from '../../testing/fake-backend';

async function open(prepare: (backend: FakeBackend) => void = () => undefined) {
  const app = renderApp('/alerts/alert-history', (backend) => {
    addChangeScenario(backend);
    prepare(backend);
  });
  await screen.findByRole('heading', { name: 'Cause' });
  return app;
}

describe('an alert about history', () => {
  it('says the cause with its reason and the commits in question', async () => {
    await open();
    expect(screen.getByText('code')).toBeInTheDocument();
    expect(
      screen.getByText(/because the artifact changed, the target did not/),
    ).toBeInTheDocument();
    expect(screen.getByText('b0b0b0b0b0')).toBeInTheDocument();
    expect(
      screen
        .getByRole('link', { name: 'Compare revisions' })
        .getAttribute('href'),
    ).toMatch(/^\/compare\?base=b0b0/);
  });

  it('leads from each change to the history of its series', async () => {
    await open();
    const table = screen.getByRole('table', { name: 'Changes in the history' });
    expect(within(table).getByRole('link')).toHaveAttribute(
      'href',
      '/series/series-1',
    );
    expect(within(table).getByText('41 before, 3 after')).toBeInTheDocument();
  });

  it('shows what base and head measured, their ratio and the median of every launch', async () => {
    await open();
    const table = screen.getByRole('table', { name: 'Base and head' });
    expect(await within(table).findByText('205 µs')).toBeInTheDocument();
    expect(within(table).getByText('216 µs – 219 µs')).toBeInTheDocument();
    expect(within(table).getByText('1.052 – 1.071')).toBeInTheDocument();
    expect(
      screen.getByText('1.059, 1.061, 1.064, 1.058, 1.067'),
    ).toBeInTheDocument();
  });

  it('says that it is the environment when both sides ran the same artifact', async () => {
    await open((backend) => {
      const report = backend.reports.get('job-ab');
      if (report?.base) report.base = { ...report.base, same_artifact: true };
    });
    expect(
      await screen.findByText(/Both sides ran the same artifact/),
    ).toBeInTheDocument();
  });

  it('never rounds a number and its limit together', async () => {
    await open();
    const name = 'Filters of first seen: native in ledger_batch at batch=1,000';
    const filters = await screen.findByRole('table', { name });
    expect(within(filters).getByText('0.061')).toBeInTheDocument();
    expect(within(filters).getByText('0.015')).toBeInTheDocument();
    expect(within(filters).getByText('no')).toBeInTheDocument();
  });

  it('names where the series began to mean something else', async () => {
    await open();
    expect(
      await screen.findByText(/A new segment since .*in bytes before/),
    ).toBeInTheDocument();
  });

  it('makes its findings again from stored samples when asked', async () => {
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: /Recompute/ }));
    expect(await screen.findAllByText('identical to the bit')).toHaveLength(2);
  });
});

describe('the search for the commit', () => {
  it('shows every commit as pass, fail, measured or possible, and how far the budget goes', async () => {
    await open();
    const strip = screen.getByRole('list', { name: 'Commits, oldest first' });
    const cells = within(strip).getAllByRole('listitem');
    expect(cells).toHaveLength(13);
    expect(cells[3]).toHaveTextContent(
      /Read four blocks at once” by Edsger: pass/,
    );
    expect(cells[4]).toHaveTextContent(/possible/);
    expect(cells[6]).toHaveTextContent(/measuring/);
    expect(cells[9]).toHaveTextContent(/: fail$/);
    expect(screen.getByText('4 of at most 6 A/B jobs')).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Start bisection' }),
    ).not.toBeInTheDocument();
  });

  it('names the commit that was found, with its author, subject and interval', async () => {
    await open((backend) => {
      const bisection = foundBisection();
      backend.alerts.set(
        'alert-history',
        changeAlert({ bisection, culprit: bisection.culprit }),
      );
    });
    const culprit = screen.getByRole('article', {
      name: 'Likely culprit',
    });
    expect(culprit).toHaveTextContent('Read four blocks at once');
    expect(culprit).toHaveTextContent(/by Ada/);
    expect(culprit).toHaveTextContent('1.052 – 1.071');
    const steps = screen.getByRole('table', { name: 'Bisection steps' });
    expect(within(steps).getByText('not measurable')).toBeInTheDocument();
  });

  it('says the verdict of every step in the words of verdicts', async () => {
    await open((backend) => {
      const bisection = foundBisection();
      const [, second, third] = bisection.steps;
      if (second === undefined) throw new Error('the fixture has steps');
      second.verdict = 'inconclusive';
      if (third !== undefined) third.verdict = 'failed';
      backend.alerts.set('alert-history', changeAlert({ bisection }));
    });
    const table = screen.getByRole('table', { name: 'Bisection steps' });
    const summaries = within(table)
      .getAllByRole('row')
      .slice(1)
      .map((row) => row.children[0]?.textContent);
    expect(summaries).toEqual([
      'fail',
      'inconclusive',
      'failed',
      'pass',
      'not measurable',
      'fail',
    ]);
    expect(
      within(table).getByRole('columnheader', { name: 'Verdict' }),
    ).toBeInTheDocument();
    expect(screen.getAllByText(/inconclusive/)).not.toHaveLength(0);
    expect(screen.getAllByText(/job failed/)).not.toHaveLength(0);
  });

  it('is started by hand with a budget', async () => {
    const { user } = await open((backend) => {
      backend.alerts.set('alert-history', changeAlert({ bisection: null }));
    });
    await user.type(
      screen.getByRole('textbox', { name: 'A/B job limit' }),
      '9',
    );
    await user.click(screen.getByRole('button', { name: 'Start bisection' }));
    expect(
      await screen.findByText('4 of at most 9 A/B jobs'),
    ).toBeInTheDocument();
  });

  it('says why it was not started', async () => {
    const { user } = await open((backend) => {
      backend.alerts.set('alert-history', changeAlert({ bisection: null }));
    });
    server.use(
      http.post('*/bisect', () =>
        problem(409, 'conflict', 'A search is running.'),
      ),
    );
    await user.click(screen.getByRole('button', { name: 'Start bisection' }));
    expect(
      await screen.findByText('Not started: A search is running.'),
    ).toBeInTheDocument();
  });

  it.each([
    ['for code only', { cause: 'environment' as const }],
    ['for what was measured here only', { imported: true }],
  ])('is offered %s', async (_, about) => {
    await open((backend) => {
      backend.alerts.set(
        'alert-history',
        changeAlert({ bisection: null, ...about }),
      );
    });
    expect(
      screen.queryByRole('heading', { name: 'Bisection' }),
    ).not.toBeInTheDocument();
  });
});

describe('calling a change expected', () => {
  it.each([
    ['code', { kind: 'history' as const }],
    [
      'an incident of its environment',
      { kind: 'environment' as const, cause: 'environment' as const },
    ],
  ])(
    'asks for the commit the new baseline starts at, of %s',
    async (_, change) => {
      const { user, backend } = await open((made) => {
        made.alerts.set('alert-history', changeAlert(change));
      });
      await user.keyboard('e');
      const dialog = await screen.findByRole('dialog', {
        name: 'Mark as expected',
      });
      const commit = within(dialog).getByRole('textbox', {
        name: /New baseline from commit/,
      });
      expect(commit).toHaveValue('1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c');
      expect(backend.alerts.get('alert-history')?.state).toBe('open');
      await user.clear(commit);
      await user.type(commit, 'feedc0de');
      await user.click(
        within(dialog).getByRole('button', { name: 'Mark as expected' }),
      );
      await waitFor(() =>
        expect(backend.alerts.get('alert-history')?.state).toBe('expected'),
      );
      expect(backend.alerts.get('alert-history')?.baseline_commit).toBe(
        'feedc0de',
      );
    },
  );
});

describe('an alert about a usage policy', () => {
  it('says what was found in each session, and shows the advice as it is now', async () => {
    renderApp('/alerts/alert-policy', (backend) => {
      const made = changeAlert({
        id: 'alert-policy',
        kind: 'policy',
        cause: null,
        bisection: null,
      });
      const [first] = made.findings;
      if (first === undefined) throw new Error('the fixture has findings');
      const findings = [
        {
          ...first,
          series_id: null,
          sides: null,
          words: 'native loses at 2,000',
        },
      ];
      const about = {
        base_commit: null,
        head_commit: null,
        target_id: 'target-2',
      };
      backend.alerts.set('alert-policy', { ...made, ...about, findings });
    });
    expect(
      await screen.findAllByText(/native loses at 2,000/),
    ).not.toHaveLength(0);
    expect(
      await screen.findByRole('article', {
        name: 'minimum_native_batch on pixel-8',
      }),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('heading', { name: 'Cause' }),
    ).not.toBeInTheDocument();
    expect(
      screen.queryByRole('heading', { name: 'Bisection' }),
    ).not.toBeInTheDocument();
  });
});

describe('an alert about a scheduled run', () => {
  it('names no benchmark and waits for no confirmation', async () => {
    renderApp('/alerts/alert-schedule', (backend) => {
      const made = changeAlert({
        id: 'alert-schedule',
        kind: 'schedule',
        cause: null,
        bisection: null,
        benchmark: '',
        arm: '',
        metric: '',
        base_commit: null,
        head_commit: null,
        confirmation_run_id: null,
      });
      const [first] = made.findings;
      if (first === undefined) throw new Error('the fixture has findings');
      const words = 'schedule night: the build failed';
      const findings = [{ ...first, series_id: null, sides: null, words }];
      backend.alerts.set('alert-schedule', { ...made, findings });
    });
    expect(
      await screen.findByText('schedule night: the build failed'),
    ).toBeVisible();
    expect(screen.getByText('scheduled run')).toBeVisible();
    for (const word of ['Benchmark', 'Worst at', 'Confirmed in'])
      expect(screen.queryByText(word)).toBeNull();
    expect(screen.queryByRole('heading', { name: 'Bisection' })).toBeNull();
  });
});

describe('an alert that no run shows', () => {
  it('leads to its target and to no run', async () => {
    renderApp('/alerts/alert-quarantine', (backend) => {
      const made = changeAlert({
        id: 'alert-quarantine',
        kind: 'quarantine',
        cause: null,
        bisection: null,
        suite: '',
        benchmark: '',
        arm: '',
        metric: '',
        base_commit: null,
        head_commit: null,
        run_id: null,
        confirmation_run_id: null,
      });
      const [first] = made.findings;
      if (first === undefined) throw new Error('the fixture has findings');
      const none = { series_id: null, sides: null, run_id: null, job_id: null };
      const findings = [{ ...first, ...none, words: 'swollen battery' }];
      backend.alerts.set('alert-quarantine', { ...made, findings });
    });
    expect(await screen.findByText('swollen battery')).toBeVisible();
    expect(screen.getByText('target in quarantine')).toBeVisible();
    for (const word of ['Suite', 'Found in', 'Confirmed in'])
      expect(screen.queryByText(word)).toBeNull();
    const links = screen
      .getAllByRole('link')
      .map((link) => link.getAttribute('href'));
    expect(links.filter((path) => path?.startsWith('/runs/'))).toEqual([]);
    expect(links.some((path) => path?.startsWith('/targets/'))).toBe(true);
  });
});
