import { screen, waitFor, within } from '@testing-library/react';

import { changeOf, cell } from '../../testing/fixtures-history';
import { importedSuite, minutesAgo } from '../../testing/fixtures';
import { renderApp } from '../../testing/render-app';

async function open(prepare?: Parameters<typeof renderApp>[1]) {
  const app = renderApp('/matrix', prepare);
  await screen.findByRole('table', { name: 'Matrix of hashing' });
  return app;
}

function cells(benchmark: string) {
  const head = screen.getByRole('rowheader', { name: new RegExp(benchmark) });
  return within(head.closest('tr') as HTMLElement).getAllByRole('cell');
}

describe('the matrix', () => {
  it('shows each target’s newest value, its worst change, verdict and noise floor', async () => {
    await open();
    const [host] = cells('Ledger batch');
    const hostCell = within(host as HTMLElement);
    expect(hostCell.getByRole('link', { name: /^1\.37 ms/ })).toHaveAttribute(
      'href',
      '/series/series-1',
    );
    expect(hostCell.getByText('native time, batch=1000')).toBeInTheDocument();
    expect(hostCell.getByText('14.2 % slower')).toBeInTheDocument();
    expect(hostCell.getByText('arms: pass')).toBeInTheDocument();
    expect(host).toHaveTextContent(/noise floor 1\.2 % · .* · 4 series/);
  });

  it('says what is stale, what was never measured and what nobody resolved', async () => {
    await open();
    const [, phone] = cells('Ledger batch');
    expect(
      within(phone as HTMLElement).getByText('not measured for 12 days'),
    ).toBeInTheDocument();
    expect(
      within(phone as HTMLElement).getByText(/noise floor not measured/),
    ).toBeInTheDocument();
    expect(
      within(phone as HTMLElement).getByText('no change'),
    ).toBeInTheDocument();
    expect(cells('Frame check').map((td) => td.textContent)).toEqual([
      'not measured',
      'not measured',
    ]);
  });

  it('says beside an older value, and where there is none, that the newest job failed and why', async () => {
    await open((backend) => {
      const failed = {
        target_id: 'target-1',
        outcome: 'failed' as const,
        cause: 'build_failed' as const,
        words: 'the build failed: error: no such header',
        at: minutesAgo(5),
        run_id: 'run-failed-1',
        job_id: 'job-failed',
      };
      for (const row of backend.history.matrix.rows) row.unmeasured = [failed];
    });
    for (const benchmark of ['Ledger batch', 'Frame check']) {
      const [host, phone] = cells(benchmark);
      const hostCell = within(host as HTMLElement);
      expect(hostCell.getByText('last run: failed')).toBeInTheDocument();
      expect(
        hostCell.getByText('the build failed: error: no such header'),
      ).toBeInTheDocument();
      expect(hostCell.getByRole('link', { name: /ago/ })).toHaveAttribute(
        'href',
        '/runs/run-failed-1?job=job-failed',
      );
      expect(phone).not.toHaveTextContent('last run');
    }
    expect(cells('Ledger batch')[0]).toHaveTextContent('1.37 ms');
  });

  it('marks a target that another tool measured, and misses no A/A run there', async () => {
    await open((backend) => {
      const { matrix } = backend.history;
      backend.history.matrix = {
        ...matrix,
        targets: [
          { id: 'target-1', name: 'lab-host', kind: 'host', imported: false },
          { id: 'target-2', name: 'ci-7', kind: 'host', imported: true },
        ],
      };
    });
    expect(
      screen.getByRole('columnheader', { name: /^ci-7 imported/ }),
    ).toBeInTheDocument();
    expect(
      screen.getByRole('columnheader', { name: /^lab-host host/ }),
    ).toBeInTheDocument();
    const [measured, reported] = cells('Ledger batch');
    expect(measured).toHaveTextContent('noise floor');
    expect(reported).not.toHaveTextContent('noise floor');
  });

  it('shows a suite that only another tool measured, and does not offer to run it', async () => {
    renderApp('/matrix?suite=pytest_benchmark', (backend) => {
      backend.suites.push(importedSuite);
      backend.history.matrix = { ...backend.history.matrix, rows: [] };
    });
    expect(
      await screen.findByRole('heading', { name: 'Nothing imported' }),
    ).toBeInTheDocument();
    expect(screen.getByDisplayValue(importedSuite.title)).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: /^Run / })).toBeNull();
  });

  it('keeps a benchmark that is gone, and says why', async () => {
    await open((backend) => {
      const [, gone] = backend.history.matrix.rows;
      if (gone === undefined) throw new Error('no row');
      const unknown = {
        ...gone,
        benchmark: 'old_check',
        title: 'Old check',
        retired: null,
      };
      backend.history.matrix = {
        ...backend.history.matrix,
        rows: [...backend.history.matrix.rows, unknown],
      };
    });
    expect(
      screen.getByRole('rowheader', {
        name: /retired: replaced by frame_verify/,
      }),
    ).toBeInTheDocument();
    expect(
      screen.getByRole('rowheader', { name: /Old check.*no longer declared/ }),
    ).toBeInTheDocument();
  });

  it('marks a newest value that is excluded, with the reason', async () => {
    await open((backend) => {
      backend.history.matrix.rows[0]?.cells.splice(
        0,
        1,
        cell({ excluded: 'conditions void: load 9' }),
      );
    });
    expect(screen.getByText('excluded')).toHaveAttribute(
      'title',
      'conditions void: load 9',
    );
  });

  it('tells a change for the better from one for the worse', async () => {
    await open((backend) => {
      const [first] = backend.history.matrix.rows;
      const change = changeOf({
        direction: 'faster',
        words: '9 % faster: 1.2 ms → 1.1 ms',
      });
      first?.cells.splice(0, 1, cell({ change }));
    });
    expect(screen.getByText('9 % faster')).toHaveAttribute(
      'title',
      '9 % faster: 1.2 ms → 1.1 ms (stands)',
    );
  });

  it('keeps the branch in the address and asks for it', async () => {
    const { user, router } = await open();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Branch' }),
      'release',
    );
    await waitFor(() =>
      expect(router.state.location.search).toEqual({
        suite: 'hashing',
        branch: 'release',
      }),
    );
    await waitFor(() =>
      expect(screen.getByRole('combobox', { name: 'Branch' })).toHaveValue(
        'release',
      ),
    );
  });
});
