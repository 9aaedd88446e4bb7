import { screen, waitFor, within } from '@testing-library/react';

import type { MissingCase } from '../../api/types';
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

const GONE = {
  benchmark: 'frame_check',
  arm: null,
  series: 2,
  last_at: '2026-01-01T00:00:00Z',
  last_run_id: 'run-old',
  words: 'frame_check was last measured at abc and is declared no more',
};

function open(change: Parameters<typeof completeness>[1]) {
  return renderApp('/runs/run-done-1', (world) => {
    world.history.completeness.set('run-done-1', completeness('run-done-1', { complete: false, ...change }));
  });
}

const panel = async () =>
  within((await screen.findByRole('heading', { name: 'Completeness' })).closest('section') as HTMLElement);

describe('the completeness of a run', () => {
  it('is said in one line when everything arrived', async () => {
    renderApp('/runs/run-done-1');
    expect(await (await panel()).findByText('all 8 arrived')).toBeInTheDocument();
    expect((await panel()).getByText('complete')).toBeInTheDocument();
  });

  it('lists every missing case with its reason in full', async () => {
    open({
      words: '2 of 41 missing (1 crash, 1 skipped)',
      missing: [missing({}), missing({ arm: 'fallback', reason: 'skipped', text: 'never measured it' })],
      missing_total: 2,
    });
    expect(await (await panel()).findByText('2 of 41 missing (1 crash, 1 skipped)')).toBeInTheDocument();
    expect((await panel()).getByText('incomplete')).toBeInTheDocument();
    const [crash, skipped] = (await panel()).getAllByRole('row').slice(1);
    expect(crash).toHaveTextContent(/crash.*ledger_batch.*native.*batch 1,000.*lab-host.*SIGSEGV/);
    expect(skipped).toHaveTextContent(/skipped.*fallback.*never measured it/);
  });

  it('says what failed, not only that it was the build', async () => {
    open({ missing: [missing({ reason: 'build', text: 'cc ended with 1' })], missing_total: 1 });
    expect(await (await panel()).findByText('build failed')).toBeInTheDocument();
  });

  it('says that a list was cut', async () => {
    open({ words: '900 of 1000 missing (900 crash)', missing: [missing({})], missing_total: 900 });
    expect(await (await panel()).findByText('The first 1 of 900 missing cases')).toBeInTheDocument();
  });

  it('does not call a run that is still measuring incomplete', async () => {
    open({ words: '3 of 8 still to come', pending: 3 });
    expect(await (await panel()).findByText('arriving')).toBeInTheDocument();
  });

  it('lets a person retire what is gone on purpose, with a reason', async () => {
    const { user, world } = open({ complete: true, gone: [GONE] });
    await user.click(await screen.findByRole('button', { name: 'Retire frame_check' }));
    expect(screen.getByRole('button', { name: 'Retire it' })).toBeDisabled();
    await user.type(
      screen.getByRole('textbox', { name: 'Why frame_check is gone on purpose' }),
      'replaced by frame_verify',
    );
    await user.click(screen.getByRole('button', { name: 'Retire it' }));
    await waitFor(() => expect(screen.queryByText(GONE.words)).not.toBeInTheDocument());
    expect(world.history.retired).toEqual([
      { benchmark: 'frame_check', arm: null, reason: 'replaced by frame_verify' },
    ]);
  });
});

describe('an A/B run', () => {
  it.each([
    ['b'.repeat(20), /A\/B: both revisions interleaved/],
    ['3f6c9b1d7e2a4c5580a1', /A\/A: the same revision on both sides/],
  ])('names its base (%s)', async (base, words) => {
    renderApp('/runs/run-done-1', (world) => {
      world.runs = [run({ base_commit: base })];
    });
    expect(await screen.findByText(words)).toBeInTheDocument();
  });
});
