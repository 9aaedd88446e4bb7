import { screen, waitFor } from '@testing-library/react';
import { http } from 'msw';

import { problem } from '../../testing/handlers';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

async function open() {
  const app = renderApp('/runs/new?suite=hashing');
  await screen.findByRole('button', { name: 'Start the run' });
  return app;
}

describe('requesting a run', () => {
  it('sends the defaults and opens the new run', async () => {
    const { user, world, router } = await open();
    await user.click(screen.getByRole('button', { name: 'Start the run' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/runs/run-new-1'));
    expect(world.requested[0]).toMatchObject({
      suite: 'hashing',
      benchmarks: null,
      targets: null,
      launches: 5,
      rounds: 20,
      knobs: {},
    });
  });

  it('labels demonstration knobs and sends them only when they were changed', async () => {
    const { user, world } = await open();
    expect(screen.getByRole('heading', { name: 'Demonstration knobs' })).toBeInTheDocument();
    const knob = screen.getByLabelText(/native_slowdown_percent/);
    await user.clear(knob);
    await user.type(knob, '60');
    expect(await screen.findByText(/will carry the mark “demonstration”/)).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Start the run' }));
    await waitFor(() => expect(world.requested[0]?.knobs).toEqual({ native_slowdown_percent: 60 }));
  });

  it('sends the chosen size and target and warns when it is too small for a verdict', async () => {
    const { user, world } = await open();
    const launches = screen.getByLabelText(/^Launches/);
    await user.clear(launches);
    await user.type(launches, '2');
    expect(await screen.findByText(/cannot give a verdict/)).toBeInTheDocument();
    await user.click(await screen.findByRole('checkbox', { name: /lab-host/ }));
    await user.click(screen.getByRole('button', { name: 'Start the run' }));
    await waitFor(() => expect(world.requested[0]).toMatchObject({ launches: 2, targets: ['target-1'] }));
  });

  it('does not start without a benchmark', async () => {
    const { user } = await open();
    await user.click(screen.getByRole('checkbox', { name: /Ledger batch/ }));
    expect(screen.getByRole('button', { name: 'Start the run' })).toBeDisabled();
    expect(screen.getByText('Choose at least one benchmark.')).toBeInTheDocument();
  });

  it('shows why the server refused and keeps the form', async () => {
    const { user } = await open();
    server.use(
      http.post('*/api/v1/runs', () =>
        problem(422, 'no_target', 'No target can run this suite.', { targets: 'all are offline' }),
      ),
    );
    await user.click(screen.getByRole('button', { name: 'Start the run' }));
    expect(await screen.findByText(/No target can run this suite\./)).toBeInTheDocument();
    expect(screen.getByText('targets: all are offline')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Start the run' })).toBeEnabled();
  });
});
