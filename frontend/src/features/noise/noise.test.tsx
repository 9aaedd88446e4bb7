import { screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';

import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

/** Returns the rows of the table of noise floors, including its head. */
const floorRows = () =>
  within(screen.getByRole('table', { name: 'Noise floors' })).getAllByRole(
    'row',
  );

describe('noise floors', () => {
  it('show the smallest difference a target can detect and the threshold that follows', async () => {
    renderApp('/noise');
    const table = await screen.findByRole('table', { name: 'Noise floors' });
    expect(within(table).getByText('3.1 %')).toBeInTheDocument();
    expect(within(table).getByText('3.5 %')).toBeInTheDocument();
    expect(within(table).getAllByText('A/A 0.994 – 1.008')).toHaveLength(2);
  });

  it('can be filtered by target, which the address then holds', async () => {
    const { user, router } = renderApp('/noise');
    await screen.findByRole('table', { name: 'Noise floors' });
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Target' }),
      'lab-host',
    );
    await waitFor(() => expect(floorRows()).toHaveLength(2));
    expect(router.state.location.search).toEqual({ target: 'target-1' });
  });

  it('lead to a rule that begins with the proposed threshold', async () => {
    const { user } = renderApp('/noise?target=target-2');
    await user.click(
      await screen.findByRole('link', {
        name: 'New rule for ledger_batch, native on pixel-8',
      }),
    );
    expect(
      await screen.findByRole('textbox', { name: /Minimum effect/ }),
    ).toHaveValue('3.5 %');
    expect(screen.getByRole('combobox', { name: 'Target' })).toHaveValue(
      'pixel-8',
    );
  });
});

describe('repeated runs', () => {
  it('are switched on and off per target, and removed', async () => {
    const { user, backend } = renderApp('/noise?target=target-2');
    const table = await screen.findByRole('table', { name: 'Schedules' });
    expect(within(table).getByText('every day')).toBeInTheDocument();
    await user.click(
      within(table).getByRole('switch', { name: 'a-a-pixel is on' }),
    );
    await waitFor(() =>
      expect(backend.decisions.schedules[0]?.enabled).toBe(true),
    );
    await user.click(
      within(table).getByRole('button', { name: 'Remove a-a-pixel' }),
    );
    expect(await screen.findByText('No schedules')).toBeInTheDocument();
    expect(backend.decisions.schedules).toHaveLength(0);
  });

  it('can be changed to another interval', async () => {
    const { user, backend } = renderApp('/noise?target=target-2');
    await user.click(
      await screen.findByRole('button', { name: 'Change a-a-pixel' }),
    );
    const form = screen.getByRole('form', { name: 'Change a-a-pixel' });
    expect(within(form).getByRole('button', { name: 'Save' })).toBeDisabled();
    await user.selectOptions(
      within(form).getByRole('combobox', { name: 'How often' }),
      'every week',
    );
    await user.click(within(form).getByRole('button', { name: 'Save' }));
    expect(
      await screen.findByRole('form', { name: 'Add a schedule' }),
    ).toBeInTheDocument();
    expect(backend.decisions.schedules[0]).toMatchObject({
      every_s: 604_800,
      enabled: false,
    });
    const table = screen.getByRole('table', { name: 'Schedules' });
    expect(await within(table).findByText('every week')).toBeInTheDocument();
  });

  it('keep an interval that the form does not offer until another is chosen', async () => {
    const { user } = renderApp('/noise?target=target-2', (backend) => {
      backend.decisions.schedules = backend.decisions.schedules.map(
        (schedule) => ({
          ...schedule,
          every_s: 5400,
          missed_at: schedule.created_at,
          missed_because: 'no target was online and healthy',
        }),
      );
    });
    await user.click(
      await screen.findByRole('button', { name: 'Change a-a-pixel' }),
    );
    const form = screen.getByRole('form', { name: 'Change a-a-pixel' });
    expect(
      within(form).getByRole('combobox', { name: 'How often' }),
    ).toHaveDisplayValue('every 1 h 30 min');
    expect(
      screen.getByText(/^missed .+: no target was online and healthy$/),
    ).toBeInTheDocument();
    await user.click(within(form).getByRole('button', { name: 'Cancel' }));
    expect(
      await screen.findByRole('form', { name: 'Add a schedule' }),
    ).toBeInTheDocument();
  });

  it('show why a change was refused, and keep what was chosen', async () => {
    const { user } = renderApp('/noise?target=target-2');
    await user.click(
      await screen.findByRole('button', { name: 'Change a-a-pixel' }),
    );
    server.use(
      http.patch('*/schedules/:id', () =>
        problem(404, 'unknown_schedule', 'Somebody removed it.'),
      ),
    );
    const form = screen.getByRole('form', { name: 'Change a-a-pixel' });
    await user.selectOptions(
      within(form).getByRole('combobox', { name: 'How often' }),
      'every week',
    );
    await user.click(within(form).getByRole('button', { name: 'Save' }));
    expect(
      await within(form).findByText(/Not changed: Somebody removed it\./),
    ).toBeInTheDocument();
    expect(
      within(form).getByRole('combobox', { name: 'How often' }),
    ).toHaveDisplayValue('every week');
  });

  it('are added for the target in the address', async () => {
    const { user, backend } = renderApp('/noise?target=target-1');
    const form = await screen.findByRole('form', {
      name: 'Add a schedule',
    });
    await within(form).findByRole('option', { name: 'lab-host' });
    await user.type(
      within(form).getByRole('textbox', { name: 'Name' }),
      'a-a-lab',
    );
    await user.selectOptions(
      within(form).getByRole('combobox', { name: 'How often' }),
      'every week',
    );
    await user.click(within(form).getByRole('button', { name: 'Add' }));
    await waitFor(() =>
      expect(backend.decisions.schedules[1]).toMatchObject({
        name: 'a-a-lab',
        kind: 'a_a',
        suite: 'hashing',
        target_id: 'target-1',
        every_s: 604_800,
        enabled: true,
      }),
    );
    // Null means the default of the target's kind.
    expect(backend.decisions.schedules[1]?.launches).toBeNull();
    expect(
      await screen.findByRole('switch', { name: 'a-a-lab is on' }),
    ).toBeChecked();
  });

  it('show why one was not added', async () => {
    const { user } = renderApp('/noise');
    const form = await screen.findByRole('form', {
      name: 'Add a schedule',
    });
    server.use(
      http.post('*/schedules', () =>
        problem(409, 'name_taken', 'There is one of that name.'),
      ),
    );
    await user.type(
      within(form).getByRole('textbox', { name: 'Name' }),
      'a-a-pixel',
    );
    await waitFor(() =>
      expect(within(form).getByRole('button', { name: 'Add' })).toBeEnabled(),
    );
    await user.click(within(form).getByRole('button', { name: 'Add' }));
    expect(
      await screen.findByText(/Not added: There is one of that name\./),
    ).toBeInTheDocument();
  });
});

describe('the noise page before any A/A run', () => {
  it('says which target is noisy, by what was measured anyway', async () => {
    renderApp('/noise', (backend) => (backend.decisions.floors = []));
    const table = await screen.findByRole('table', {
      name: 'Targets by noise',
    });
    const [, noisiest, quiet] = within(table).getAllByRole('row');
    expect(noisiest).toHaveTextContent(
      'pixel-8 ±4.2 %not reported3 of 8 (37.5 %)',
    );
    expect(quiet).toHaveTextContent('lab-host ±0.61 %0.40 %none of 14');
  });

  it('says what would fill it when nothing was measured', async () => {
    renderApp('/noise', ({ decisions }) => {
      decisions.targetsNoise = { days: 14, targets: [] };
    });
    expect(
      await screen.findByText(/measured in the last 14 days/),
    ).toBeInTheDocument();
  });
});
