import { screen, waitFor, within } from '@testing-library/react';
import { delay, http } from 'msw';

import { addChangeScenario } from '../../testing/scenario-change';
import { changeAlert } from '../../testing/fixtures-changes';
import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

async function open(
  address = '/alerts',
  prepare?: Parameters<typeof renderApp>[1],
) {
  const app = renderApp(address, prepare);
  await screen.findByRole('table', { name: 'Alerts' });
  return app;
}

function currentRow(): HTMLElement {
  return screen
    .getAllByRole('row')
    .find((row) => row.getAttribute('aria-current') === 'true') as HTMLElement;
}

describe('the inbox by keyboard', () => {
  it('moves with j and k and keeps its place in the address', async () => {
    const { user, router } = await open();
    expect(currentRow()).toHaveTextContent('on lab-host');
    await user.keyboard('j');
    await waitFor(() => expect(currentRow()).toHaveTextContent('on pixel-8'));
    expect(router.state.location.search).toEqual({ at: 'alert-2' });
    await user.keyboard('jjj');
    await waitFor(() => expect(currentRow()).toHaveTextContent('crc32'));
    await user.keyboard('k');
    await waitFor(() => expect(currentRow()).toHaveTextContent('on pixel-8'));
  });

  it('opens the alert it stands on with Enter', async () => {
    const { user, router } = await open('/alerts?at=alert-2');
    await user.keyboard('{Enter}');
    await waitFor(() =>
      expect(router.state.location.pathname).toBe('/alerts/alert-2'),
    );
  });

  it('acknowledges with a and goes on to the next', async () => {
    const { user, backend } = await open();
    await user.keyboard('a');
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.state).toBe('acknowledged'),
    );
    await waitFor(() => expect(currentRow()).toHaveTextContent('on pixel-8'));
    expect(await screen.findByText(/acknowledged\.$/)).toBeInTheDocument();
  });

  it('explains its keys with ? and can switch them off', async () => {
    const { user, backend } = await open();
    await user.keyboard('?');
    const dialog = await screen.findByRole('dialog', { name: 'Keyboard' });
    expect(within(dialog).getByText('acknowledge it')).toBeInTheDocument();
    await user.click(
      within(dialog).getByRole('switch', { name: /Single-key shortcuts/ }),
    );
    await user.keyboard('{Escape}');
    await waitFor(() =>
      expect(screen.queryByRole('dialog')).not.toBeInTheDocument(),
    );
    await user.keyboard('a');
    expect(backend.alerts.get('alert-1')?.state).toBe('open');
  });

  it('leaves typing and modified keys alone', async () => {
    const { user, backend } = await open();
    await user.keyboard('{Control>}a{/Control}');
    screen.getByRole('combobox', { name: 'State' }).focus();
    await user.keyboard('a');
    expect(backend.alerts.get('alert-1')?.state).toBe('open');
  });

  it('refuses to acknowledge without permission and says so', async () => {
    const { user, backend } = await open('/alerts', (made) => {
      if (made.session !== null)
        made.session = { ...made.session, permissions: ['project.read'] };
    });
    await user.keyboard('a');
    expect(
      await screen.findByText('You have no permission to triage alerts.'),
    ).toBeInTheDocument();
    expect(backend.alerts.get('alert-1')?.state).toBe('open');
  });
});

describe('acknowledging', () => {
  it('shows the new state at once and takes it back with the reason when the server refuses', async () => {
    const { user } = await open();
    server.use(
      http.post('*/api/v1/alerts/:id/actions', async () => {
        await delay(150);
        return problem(409, 'conflict', 'Grace resolved it a moment ago.');
      }),
    );
    const row = currentRow();
    await user.click(within(row).getByRole('button', { name: /^Acknowledge/ }));
    expect(await within(row).findByText('acknowledged')).toBeInTheDocument();
    expect(
      await screen.findByText(
        /Grace resolved it a moment ago\. Nothing was changed\./,
      ),
    ).toBeInTheDocument();
    expect(await within(row).findByText('open')).toBeInTheDocument();
  });
});

describe('the inbox by address', () => {
  it('shows only what the filters say', async () => {
    await open('/alerts?state=acknowledged');
    expect(screen.getAllByRole('row')).toHaveLength(2);
    expect(screen.getByText(/crc32 native slower/)).toBeInTheDocument();
  });

  it('says that nothing is open when everything has been taken', async () => {
    renderApp('/alerts?state=open', (backend) => {
      for (const [id, alert] of backend.alerts)
        backend.alerts.set(id, { ...alert, state: 'fixed' });
    });
    expect(await screen.findByText('No open alerts')).toBeInTheDocument();
  });

  it('is reached from the overview’s tiles', async () => {
    const { user, router } = renderApp('/');
    await user.click(
      await screen.findByRole('link', { name: /acknowledged 1/ }),
    );
    await waitFor(() => expect(router.state.location.pathname).toBe('/alerts'));
    expect(router.state.location.search).toEqual({ state: 'acknowledged' });
  });

  it('refetches when the server says that an alert changed', async () => {
    const { stream, backend } = await open();
    await waitFor(() => expect(stream.current).toBeDefined());
    const alert = backend.alerts.get('alert-1');
    if (alert !== undefined)
      backend.alerts.set('alert-9', {
        ...alert,
        id: 'alert-9',
        title: 'a new one',
      });
    stream.current?.ready(1);
    stream.current?.send({
      id: 2,
      kind: 'alert',
      at: '2026-01-10T12:00:00Z',
      run_id: null,
      job_id: null,
      data: { id: 'alert-9', state: 'open', title: 'a new one' },
    });
    expect(await screen.findByText('a new one')).toBeInTheDocument();
  });
});

describe('deciding about several', () => {
  it('chooses by keyboard, decides about all of them, and takes it back from the notice', async () => {
    const { user, backend } = await open();
    await user.keyboard('xjx');
    expect(await screen.findByText('2 alerts selected')).toBeInTheDocument();
    const bar = screen.getByRole('region', {
      name: 'Triage the selected alerts',
    });
    await user.type(
      within(bar).getByRole('textbox', { name: 'Note for all' }),
      'power cut',
    );
    await user.click(
      within(bar).getByRole('button', { name: 'Infrastructure' }),
    );
    await waitFor(() =>
      expect(backend.alerts.get('alert-2')?.state).toBe('infra'),
    );
    expect(backend.decisions.bulk[0]?.body).toEqual({
      action: 'infra',
      note: 'power cut',
      alert_ids: ['alert-1', 'alert-2'],
    });
    expect(screen.queryByText('2 alerts selected')).not.toBeInTheDocument();
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.state).toBe('open'),
    );
    expect(await screen.findByText('Undone for 2 alerts.')).toBeInTheDocument();
  });

  it.each(['history', 'environment'] as const)(
    'asks for the new baseline of a change (%s)',
    async (kind) => {
      const { user, backend } = await open('/alerts', (made) => {
        addChangeScenario(made);
        made.alerts.set('alert-history', changeAlert({ kind }));
      });
      await user.click(screen.getByRole('button', { name: /^Select all/ }));
      const bar = screen.getByRole('region', {
        name: 'Triage the selected alerts',
      });
      await user.click(within(bar).getByRole('button', { name: 'Expected' }));
      const dialog = await screen.findByRole('dialog', {
        name: 'Mark as expected',
      });
      expect(backend.decisions.bulk).toEqual([]);
      const commit = within(dialog).getByRole('textbox', {
        name: /New baseline from commit/,
      });
      await user.clear(commit);
      await user.type(commit, 'feedc0de');
      await user.click(
        within(dialog).getByRole('button', { name: 'Mark as expected' }),
      );
      await waitFor(() => expect(backend.decisions.bulk).toHaveLength(1));
      expect(backend.decisions.bulk[0]?.body).toMatchObject({
        action: 'expected',
        baseline_commit: 'feedc0de',
      });
    },
  );

  it('undoes the last decision with z', async () => {
    const { user, backend } = await open();
    await user.click(
      screen.getByRole('checkbox', {
        name: /Select native slower .* on pixel-8/,
      }),
    );
    await user.click(await screen.findByRole('button', { name: 'Invalid' }));
    await waitFor(() =>
      expect(backend.alerts.get('alert-2')?.state).toBe('invalid'),
    );
    await screen.findByRole('button', { name: 'Undo' });
    await user.keyboard('z');
    await waitFor(() =>
      expect(backend.alerts.get('alert-2')?.state).toBe('open'),
    );
  });

  it('changes nothing when one refuses, and names it with its reason', async () => {
    const { user, backend } = await open();
    await user.click(screen.getByRole('button', { name: 'Select all 3' }));
    const bar = screen.getByRole('region', {
      name: 'Triage the selected alerts',
    });
    await user.click(within(bar).getByRole('button', { name: 'Acknowledge' }));
    expect(
      await within(bar).findByText(
        /crc32 native slower .*: It is acknowledged\./,
      ),
    ).toBeInTheDocument();
    expect(backend.alerts.get('alert-1')?.state).toBe('open');
    expect(screen.getByText('3 alerts selected')).toBeInTheDocument();
  });

  it('assigns all of them', async () => {
    const { user, backend } = await open();
    await user.click(screen.getByRole('button', { name: 'Select all 3' }));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Assign all to' }),
      'Grace',
    );
    await waitFor(() =>
      expect(backend.alerts.get('alert-3')?.assignee?.name).toBe('Grace'),
    );
  });

  it('offers no choice to someone who may only read', async () => {
    await open('/alerts', (made) => {
      if (made.session !== null)
        made.session = { ...made.session, permissions: ['project.read'] };
    });
    expect(
      screen.queryByRole('checkbox', { name: /Select/ }),
    ).not.toBeInTheDocument();
  });
});

describe('finding an alert', () => {
  it('filters by kind, cause, rule and text, each in the address', async () => {
    const { user, router } = await open('/alerts', addChangeScenario);
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Kind' }),
      'history',
    );
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Cause' }),
      'code',
    );
    await user.type(
      screen.getByRole('searchbox', { name: 'Search' }),
      'ledger_batch at',
    );
    await waitFor(() =>
      expect(router.state.location.search).toEqual({
        kind: 'history',
        cause: 'code',
        text: 'ledger_batch at',
      }),
    );
    expect(
      await screen.findByRole('link', { name: /native in ledger_batch at/ }),
    ).toBeInTheDocument();
  });

  it('shows what is overdue, and what was raised in shadow, only when asked', async () => {
    const { user, router } = await open('/alerts', (backend) => {
      const [first, two] = [
        backend.alerts.get('alert-1'),
        backend.alerts.get('alert-2'),
      ];
      if (first !== undefined)
        backend.alerts.set(first.id, {
          ...first,
          overdue: true,
          due_at: first.created_at,
        });
      if (two !== undefined)
        backend.alerts.set(two.id, { ...two, shadow: true });
    });
    expect(screen.queryByText(/on pixel-8$/)).not.toBeInTheDocument();
    await user.click(screen.getByRole('checkbox', { name: 'overdue' }));
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    expect(router.state.location.search).toEqual({ overdue: true });
    await user.click(screen.getByRole('checkbox', { name: 'overdue' }));
    await user.click(screen.getByRole('checkbox', { name: 'in shadow' }));
    expect(
      await screen.findByRole('link', { name: /on pixel-8$/ }),
    ).toBeInTheDocument();
  });
});
