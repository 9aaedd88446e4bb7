import { fireEvent, screen, waitFor, within } from '@testing-library/react';

import { startOfYesterday } from '../../lib/times';
import { failedRun, run } from '../../testing/fixtures';
import { alerts } from '../../testing/fixtures-decisions';
import { renderApp } from '../../testing/render-app';

describe('the last runs', () => {
  it('show how each ended in one word, and why a run was not judged', async () => {
    renderApp('/', (backend) => {
      const reason =
        'lab-host: the agent stopped answering: what arrived is kept';
      backend.runs = [
        run({
          state: 'failed',
          outcome: 'lost',
          verdict: null,
          reason,
          jobs: [],
        }),
        failedRun,
      ];
    });
    const table = within(
      await screen.findByRole('table', { name: 'Recent runs' }),
    );
    const [, lost, failed] = table.getAllByRole('row');
    expect(within(lost as HTMLElement).getByText('lost')).toBeInTheDocument();
    expect(lost).toHaveTextContent(
      'the agent stopped answering: what arrived is kept',
    );
    expect(
      within(failed as HTMLElement).getByText('failed'),
    ).toBeInTheDocument();
    expect(failed).toHaveTextContent(
      'the workload crashed: ledger, launch 2: SIGSEGV',
    );
    expect(table.queryByText('inconclusive')).not.toBeInTheDocument();
  });
});

describe('false alarms', () => {
  it('are on the overview with their counts, and lead to the alerts', async () => {
    renderApp('/');
    expect(
      await screen.findByRole('heading', { name: 'False alarms' }),
    ).toBeInTheDocument();
    expect(screen.getByText('4.9 %')).toBeInTheDocument();
    expect(
      screen.getByText(/2 of 41 alerts opened in the last 90 days were false/),
    ).toBeInTheDocument();
    expect(screen.getByRole('link', { name: '1 vanished' })).toHaveAttribute(
      'href',
      expect.stringMatching(/^\/alerts\?state=vanished&from=/),
    );
  });

  it('have no share when there are too few alerts', async () => {
    renderApp('/', ({ decisions }) => {
      decisions.falseAlarms = {
        ...decisions.falseAlarms,
        share: null,
        words: '1 of 3 alerts: too few for a share.',
      };
    });
    expect(
      await screen.findByText('1 of 3 alerts: too few for a share.'),
    ).toBeInTheDocument();
    expect(screen.queryByText(/^[\d.]+ %$/)).not.toBeInTheDocument();
  });
});

async function row(label: string) {
  const table = await screen.findByRole('table', { name: label });
  return within(within(table).getAllByRole('row')[1] as HTMLElement);
}

describe('the recent runs', () => {
  it('lead to the imported ones, which are not among them', async () => {
    renderApp('/');
    expect(
      await screen.findByRole('link', { name: 'Imported runs' }),
    ).toHaveAttribute('href', '/runs?trigger=import');
  });
});

describe('what is new', () => {
  it('is asked for since yesterday, in one request, and since the day in the address', async () => {
    const { user, backend, router } = renderApp('/');
    expect(
      await screen.findByText(/No changes, no flipped verdicts/),
    ).toBeInTheDocument();
    const yesterday = startOfYesterday(Date.now());
    expect(backend.decisions.askedSince).toEqual([yesterday]);
    const since = screen.getByRole('combobox', { name: 'Since' });
    expect(within(since).queryByText('my last visit')).not.toBeInTheDocument();
    await user.selectOptions(since, 'a day');
    fireEvent.change(await screen.findByLabelText('Day'), {
      target: { value: '2026-11-02' },
    });
    const day = new Date('2026-11-02T00:00').toISOString();
    await waitFor(() => expect(backend.decisions.askedSince.at(-1)).toBe(day));
    expect(router.state.location.search).toEqual({ since: day });
  });

  it('begins with the last visit where this browser knows one', async () => {
    window.localStorage.setItem(
      'paceline.visit.overview.',
      JSON.stringify({ before: null, seen: '2026-11-02T08:00:00.000Z' }),
    );
    const { backend } = renderApp('/');
    await screen.findByText(/No changes, no flipped verdicts/);
    expect(backend.decisions.askedSince).toEqual(['2026-11-02T08:00:00.000Z']);
  });

  it('lists changes, flipped verdicts, alerts and failed runs with a way to each', async () => {
    renderApp('/', (backend) => {
      backend.runs = [run({ id: 'run-fine' })];
      backend.decisions.since = {
        since: '2026-11-02T08:00:00Z',
        words:
          '1 change, 1 flipped verdict, 20 or more new alerts, 1 failed run.',
        changes: [
          {
            id: 'change-1',
            series_id: 'series-1',
            suite: 'hashing',
            benchmark: 'ledger_batch',
            arm: 'native',
            metric: 'time',
            params: { batch: 1000 },
            title: null,
            target_id: 'target-1',
            target_name: 'lab-host',
            state: 'standing',
            direction: 'slower',
            words: '6.0 % slower: 1.2 ms → 1.27 ms',
            commit: 'a1b2c3d4e5f6',
            alert_id: null,
            found_at: '2026-11-03T08:00:00Z',
          },
        ],
        flips: [
          {
            suite: 'hashing',
            benchmark: 'frame_check',
            arm: 'native',
            reference: 'fallback',
            metric: 'time',
            params: {},
            target_id: 'target-1',
            target_name: 'lab-host',
            branch: 'main',
            before: 'pass',
            verdict: 'fail',
            words: '12.6 % slower',
            run_id: 'run-1',
            job_id: 'job-1',
            measured_at: '2026-11-03T08:00:00Z',
          },
        ],
        alerts: [alerts[0]!],
        runs: [failedRun],
        more: ['alerts'],
      };
    });
    expect((await row('Changes')).getByRole('link')).toHaveAttribute(
      'href',
      '/series/series-1',
    );
    const [arm, measured] = (await row('Flipped verdicts')).getAllByRole(
      'link',
    );
    expect(arm).toHaveAttribute(
      'href',
      '/arms?suite=hashing&benchmark=frame_check&target=target-1',
    );
    expect(measured).toHaveAttribute('href', '/runs/run-1?job=job-1');
    expect((await row('New alerts')).getByRole('link')).toHaveAttribute(
      'href',
      '/alerts/alert-1',
    );
    expect(
      (await row('Failed runs')).getByText(/the workload crashed/),
    ).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'All alerts since then' }),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('link', { name: 'All failed runs since then' }),
    ).not.toBeInTheDocument();
  });
});
