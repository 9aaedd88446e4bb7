import { screen, waitFor, within } from '@testing-library/react';
import { delay, http } from 'msw';

import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

async function open(address = '/alerts', prepare?: Parameters<typeof renderApp>[1]) {
  const app = renderApp(address, prepare);
  await screen.findByRole('table', { name: 'Alerts' });
  return app;
}

function currentRow(): HTMLElement {
  return screen.getAllByRole('row').find((row) => row.getAttribute('aria-current') === 'true') as HTMLElement;
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
    await waitFor(() => expect(router.state.location.pathname).toBe('/alerts/alert-2'));
  });

  it('acknowledges with a and goes on to the next', async () => {
    const { user, world } = await open();
    await user.keyboard('a');
    await waitFor(() => expect(world.alerts.get('alert-1')?.state).toBe('acknowledged'));
    await waitFor(() => expect(currentRow()).toHaveTextContent('on pixel-8'));
    expect(await screen.findByText(/acknowledged\.$/)).toBeInTheDocument();
  });

  it('explains its keys with ? and can switch them off', async () => {
    const { user, world } = await open();
    await user.keyboard('?');
    const dialog = await screen.findByRole('dialog', { name: 'Keyboard' });
    expect(within(dialog).getByText('acknowledge it')).toBeInTheDocument();
    await user.click(within(dialog).getByRole('switch', { name: /Single-key shortcuts/ }));
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    await user.keyboard('a');
    expect(world.alerts.get('alert-1')?.state).toBe('open');
  });

  it('leaves typing and modified keys alone', async () => {
    const { user, world } = await open();
    await user.keyboard('{Control>}a{/Control}');
    screen.getByRole('combobox', { name: 'State' }).focus();
    await user.keyboard('a');
    expect(world.alerts.get('alert-1')?.state).toBe('open');
  });

  it('refuses to acknowledge without permission and says so', async () => {
    const { user, world } = await open('/alerts', (made) => {
      if (made.session !== null) made.session = { ...made.session, scopes: ['read'] };
    });
    await user.keyboard('a');
    expect(await screen.findByText('Your account may not triage alerts.')).toBeInTheDocument();
    expect(world.alerts.get('alert-1')?.state).toBe('open');
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
      await screen.findByText(/Grace resolved it a moment ago\. Nothing was changed\./),
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
    renderApp('/alerts?state=open', (world) => {
      for (const [id, alert] of world.alerts) world.alerts.set(id, { ...alert, state: 'fixed' });
    });
    expect(await screen.findByText('Nothing is open')).toBeInTheDocument();
  });

  it('is reached from the overview’s tiles', async () => {
    const { user, router } = renderApp('/');
    await user.click(await screen.findByRole('link', { name: /acknowledged 1/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/alerts'));
    expect(router.state.location.search).toEqual({ state: 'acknowledged' });
  });

  it('refetches when the server says that an alert changed', async () => {
    const { stream, world } = await open();
    await waitFor(() => expect(stream.current).toBeDefined());
    const alert = world.alerts.get('alert-1');
    if (alert !== undefined) world.alerts.set('alert-9', { ...alert, id: 'alert-9', title: 'a new one' });
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
