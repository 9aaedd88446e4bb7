import { screen, within } from '@testing-library/react';

import { failedRun, run } from '../../testing/fixtures';
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
      '/alerts?state=vanished',
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
