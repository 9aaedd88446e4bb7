import { screen, within } from '@testing-library/react';

import type { Trigger } from '../../api/types';
import { importedSuite } from '../../testing/fixtures';
import { renderApp } from '../../testing/render-app';
import type { FakeBackend } from '../../testing/fake-backend';

/** Returns a finished run without comparisons, as imported from another tool or measured by an agent. */
const withTrigger = (trigger: Trigger) => (backend: FakeBackend) => {
  backend.comparisons = [];
  backend.runs = backend.runs.map((run) =>
    run.id === 'run-done-1'
      ? Object.assign({}, run, { trigger, rounds: 1 })
      : run,
  );
};

async function open(trigger: Trigger) {
  renderApp('/runs/run-done-1', withTrigger(trigger));
  await screen.findByRole('heading', { name: 'Verdicts' });
}

describe('a run of another tool’s samples', () => {
  it('shows no phases, size, conditions or log, which nobody asked for and nobody saw', async () => {
    await open('import');
    expect(
      screen.queryByRole('list', { name: 'Phases' }),
    ).not.toBeInTheDocument();
    for (const never of ['Conditions', 'Log']) {
      expect(
        screen.queryByRole('heading', { name: never }),
      ).not.toBeInTheDocument();
    }
    expect(screen.queryByText('Size')).not.toBeInTheDocument();
    expect(
      screen.getByRole('heading', { name: 'Samples' }),
    ).toBeInTheDocument();
  });

  it.each(['import', 'recorded'] as const)(
    'says of the trigger %s when it was measured, not how long it took to store',
    async (trigger) => {
      await open(trigger);
      expect(screen.getByText('Measured')).toBeInTheDocument();
      expect(screen.queryByText('Took')).not.toBeInTheDocument();
    },
  );

  it('does not hide them of a run that an agent measured, and counts one round as one', async () => {
    await open('manual');
    expect(screen.getByRole('list', { name: 'Phases' })).toBeInTheDocument();
    expect(
      screen.getByRole('heading', { name: 'Conditions' }),
    ).toBeInTheDocument();
    expect(screen.getByRole('heading', { name: 'Log' })).toBeInTheDocument();
    expect(screen.getByText('5 launches × 1 round')).toBeInTheDocument();
  });

  it('shows what was recorded without a server, which had no phases and cannot be repeated', async () => {
    await open('recorded');
    for (const seen of ['Conditions', 'Log'])
      expect(screen.getByRole('heading', { name: seen })).toBeInTheDocument();
    expect(screen.getByText('5 launches × 1 round')).toBeInTheDocument();
    expect(
      screen.queryByRole('list', { name: 'Phases' }),
    ).not.toBeInTheDocument();
    expect(screen.getByText('Compare runs')).toBeInTheDocument();
    expect(screen.queryByText('Repeat')).not.toBeInTheDocument();
  });
});

/** Returns the host as a target that only has imported measurements. */
const imported = (backend: FakeBackend) => {
  backend.targets = backend.targets.map((target) =>
    target.name === 'lab-host'
      ? Object.assign({}, target, {
          name: 'ci-7',
          imported: true,
          preflight: [],
        })
      : target,
  );
};

describe('a suite that only another tool measured', () => {
  it('is not offered to who asks for a run, also not by its address', async () => {
    renderApp('/runs/new?suite=pytest_benchmark', (backend) => {
      backend.suites.push(importedSuite);
    });
    const offered = await screen.findByRole('combobox', { name: 'Suite' });
    expect(offered).toHaveDisplayValue('Hashing');
    expect(offered).not.toHaveTextContent(importedSuite.title);
  });
});

describe('a target of which only imported figures are known', () => {
  it('is not offered to who asks for a run', async () => {
    renderApp('/runs/new?suite=hashing', imported);
    const offered = await screen.findByRole('group', { name: 'Targets' });
    expect(within(offered).getByText('pixel-8')).toBeInTheDocument();
    expect(within(offered).queryByText('ci-7')).not.toBeInTheDocument();
  });

  it('offers no action, no A/A run and no agent that was seen', async () => {
    renderApp('/targets/target-1', imported);
    expect(
      await screen.findByText('none: its figures are imported'),
    ).toBeInTheDocument();
    expect(screen.queryByRole('heading', { name: 'Actions' })).toBeNull();
    for (const never of ['Noise floor', 'Preflight', 'Fingerprint'])
      expect(screen.queryByRole('heading', { name: never })).toBeNull();
  });

  it('has neither an agent nor a clean preflight', async () => {
    renderApp('/targets', imported);
    const table = within(await screen.findByRole('table', { name: 'Targets' }));
    const [, row] = table.getAllByRole('row');
    expect(row).toHaveTextContent(/ci-7.*––none$/);
    expect(row).not.toHaveTextContent('clean');
  });
});
