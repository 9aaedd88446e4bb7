import { screen, waitFor, within } from '@testing-library/react';

import type { MissingCase, MissingGroup } from '../../api/types';
import { completeness } from '../../testing/fixtures-history';
import { run } from '../../testing/fixtures';
import { renderApp } from '../../testing/render-app';

function missing(change: Partial<MissingCase>): MissingCase {
  return {
    target_id: 'target-1',
    target_name: 'lab-host',
    job_id: 'job-1',
    benchmark: 'ledger_batch',
    arm: 'native',
    params: { batch: 1000 },
    reason: 'crash',
    text: 'ledger, launch 2: SIGSEGV',
    ...change,
  };
}

function group(change: Partial<MissingGroup>): MissingGroup {
  return {
    reason: 'crash',
    words: '1 case: crash',
    count: 1,
    text: 'ledger, launch 2: SIGSEGV',
    targets: [{ id: 'target-1', name: 'lab-host' }],
    ...change,
  };
}

const GONE = {
  benchmark: 'frame_check',
  arm: null,
  series: 2,
  last_at: '2026-01-01T00:00:00Z',
  last_run_id: 'run-old',
  words: 'frame_check was last measured at abc and is no longer declared',
};

function open(change: Parameters<typeof completeness>[1]) {
  return renderApp('/runs/run-done-1', (backend) => {
    backend.history.completeness.set(
      'run-done-1',
      completeness('run-done-1', { complete: false, ...change }),
    );
  });
}

const panel = async () =>
  within(
    (await screen.findByRole('heading', { name: 'Completeness' })).closest(
      'section',
    ) as HTMLElement,
  );

describe('the completeness of a run', () => {
  it('is said in one line when everything arrived', async () => {
    renderApp('/runs/run-done-1');
    expect(
      await (await panel()).findByText('all 8 cases arrived'),
    ).toBeInTheDocument();
    expect((await panel()).getByText('complete')).toBeInTheDocument();
  });

  it('says of each reason once what it took away, and lists the cases when asked', async () => {
    const skipped = { reason: 'skipped', text: 'never measured it' } as const;
    const { user } = open({
      words: '3 of 41 missing (2 crash, 1 skipped)',
      missing: [
        missing({}),
        missing({ arm: 'native_ffm' }),
        missing({ arm: 'fallback', ...skipped }),
      ],
      missing_total: 3,
      missing_groups: [
        group({ count: 2, words: '2 cases: crash' }),
        group({ words: '1 case: skipped', ...skipped }),
      ],
    });
    expect(
      await (await panel()).findByText('3 of 41 missing (2 crash, 1 skipped)'),
    ).toBeInTheDocument();
    expect((await panel()).getByText('incomplete')).toBeInTheDocument();
    const list = (await panel()).getByRole('list', { name: 'Missing cases' });
    const [crash, left] = within(list).getAllByRole('listitem');
    expect(crash).toHaveTextContent(/2 cases: crash.*lab-host.*SIGSEGV/);
    expect(left).toHaveTextContent(/1 case: skipped.*never measured it/);
    await user.click(within(crash as HTMLElement).getByText('2 cases: crash'));
    const rows = within(within(crash as HTMLElement).getByRole('table'))
      .getAllByRole('row')
      .slice(1);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toHaveTextContent(
      /ledger_batch.*native.*batch 1,000.*lab-host/,
    );
  });

  it('shows 24 cases that one failed build took away in one row', async () => {
    const text = 'Build step `make` exited with status 2.';
    const cases = Array.from({ length: 24 }, (_, at) =>
      missing({ reason: 'build', text, params: { batch: at + 1 } }),
    );
    open({
      missing: cases,
      missing_total: 24,
      missing_groups: [
        group({
          reason: 'build',
          words: '24 cases: build failed',
          count: 24,
          text,
        }),
      ],
    });
    const list = within(
      await (await panel()).findByRole('list', { name: 'Missing cases' }),
    );
    expect(list.getAllByRole('listitem')).toHaveLength(1);
    expect(list.getByText('24 cases: build failed')).toBeInTheDocument();
    expect(list.getAllByText(text)).toHaveLength(1);
  });

  it('says that a list was cut', async () => {
    open({
      words: '900 of 1000 missing (900 crash)',
      missing: [missing({})],
      missing_total: 900,
      missing_groups: [group({ words: '900 cases: crash', count: 900 })],
    });
    expect(
      await (await panel()).findByText('The first 1 of 900'),
    ).toBeInTheDocument();
  });

  it('does not call a run that is still measuring incomplete', async () => {
    open({ words: '3 of 8 still to come', pending: 3 });
    expect(await (await panel()).findByText('arriving')).toBeInTheDocument();
  });

  it('lets a person retire what is gone on purpose, with a reason', async () => {
    const { user, backend } = open({ complete: true, gone: [GONE] });
    await user.click(
      await screen.findByRole('button', { name: 'Retire frame_check' }),
    );
    expect(screen.getByRole('button', { name: 'Retire' })).toBeDisabled();
    await user.type(
      screen.getByRole('textbox', {
        name: 'Reason for retiring frame_check',
      }),
      'replaced by frame_verify',
    );
    await user.click(screen.getByRole('button', { name: 'Retire' }));
    await waitFor(() =>
      expect(screen.queryByText(GONE.words)).not.toBeInTheDocument(),
    );
    expect(backend.history.retired).toEqual([
      {
        benchmark: 'frame_check',
        arm: null,
        reason: 'replaced by frame_verify',
      },
    ]);
  });
});

describe('an A/B run', () => {
  it.each([
    ['b'.repeat(20), /A\/B: both revisions interleaved/],
    ['3f6c9b1d7e2a4c5580a1', /A\/A: the same revision on both sides/],
  ])('names its base (%s)', async (base, words) => {
    renderApp('/runs/run-done-1', (backend) => {
      backend.runs = [run({ base_commit: base })];
    });
    expect(await screen.findByText(words)).toBeInTheDocument();
  });
});
