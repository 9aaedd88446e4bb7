import { screen, waitFor } from '@testing-library/react';
import { http } from 'msw';

import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

describe('targets', () => {
  it('say why they take no jobs', async () => {
    renderApp('/targets');
    expect(await screen.findByText('cooling')).toBeInTheDocument();
    expect(screen.getByText(/battery at 41 °C, measuring again below 35 °C/)).toBeInTheDocument();
  });

  it('show preflight advice and the factors of their fingerprint', async () => {
    renderApp('/targets/target-1');
    expect(await screen.findByText('Switch boost off in the firmware or the kernel.')).toBeInTheDocument();
    expect(screen.getByText('EPYC 9354')).toBeInTheDocument();
  });

  it('go into maintenance with a reason and come back', async () => {
    const { user, world } = renderApp('/targets/target-1');
    await user.type(await screen.findByLabelText('Reason for maintenance'), 'new cooler');
    await user.click(screen.getByRole('button', { name: 'Start maintenance' }));
    expect(await screen.findByText(/Takes no jobs: new cooler/)).toBeInTheDocument();
    expect(world.targets[0]).toMatchObject({ hold: 'maintenance', hold_reason: 'new cooler' });
    await user.click(screen.getByRole('button', { name: 'End maintenance' }));
    await waitFor(() => expect(world.targets[0]?.hold).toBeNull());
  });

  it('say when a change was refused', async () => {
    const { user } = renderApp('/targets/target-1');
    await screen.findByRole('button', { name: 'Start maintenance' });
    server.use(http.put('*/maintenance', () => problem(409, 'conflict', 'A job is running.')));
    await user.click(screen.getByRole('button', { name: 'Start maintenance' }));
    expect(await screen.findByText(/Not changed: A job is running\./)).toBeInTheDocument();
  });

  it('offer maintenance to administrators only', async () => {
    renderApp('/targets/target-1', (world) => {
      if (world.session !== null) world.session = { ...world.session, scopes: ['read'] };
    });
    expect(await screen.findByText('An administrator can put it into maintenance.')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Start maintenance' })).not.toBeInTheDocument();
  });
});
