import { screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';

import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

describe('the list of rules', () => {
  it('says of each whose it is, what it decides about, how it did and whether it is muted', async () => {
    renderApp('/rules', (backend) => {
      backend.decisions.rules[1] = {
        ...backend.decisions.rules[1]!,
        mute: {
          id: 'mute-1',
          reason: 'new firmware',
          until: '2031-01-02T03:04:05Z',
          muted_by: 'Grace',
          created_at: '2031-01-01T03:04:05Z',
          ended_at: null,
        },
      };
    });
    const table = await screen.findByRole('table', { name: 'Rules' });
    expect(
      within(table).getByRole('link', { name: 'hashing-native' }),
    ).toHaveAttribute('href', '/rules/rule-1');
    expect(
      within(table).getByText('suite hashing · arm native · metric time'),
    ).toBeInTheDocument();
    expect(within(table).getByText('gets worse by 3.5 %')).toBeInTheDocument();
    expect(
      within(table).getByText('7 of 8 alerts were worth it (88 %).'),
    ).toBeInTheDocument();
    expect(within(table).getByText(/until 2 Jan 2031/)).toBeInTheDocument();
  });

  it('keeps its filters in the address', async () => {
    const { user, router } = renderApp('/rules');
    await screen.findByRole('table', { name: 'Rules' });
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Mode' }),
      'shadow',
    );
    await waitFor(() =>
      expect(screen.queryByText('hashing-native')).not.toBeInTheDocument(),
    );
    expect(router.state.location.search).toEqual({ mode: 'shadow' });
  });

  it('lists orphans and leads from an unruled measurement to a rule written for it', async () => {
    const { user } = renderApp('/rules');
    expect(
      await screen.findByText(/1 rule decides about nothing/),
    ).toBeInTheDocument();
    await user.click(
      screen.getByRole('link', {
        name: /New rule for frame_check, native/,
      }),
    );
    expect(
      await screen.findByRole('combobox', { name: 'Benchmark' }),
    ).toHaveValue('frame_check');
    expect(screen.getByRole('combobox', { name: 'Target' })).toHaveValue(
      'lab-host',
    );
  });

  it('lists the rules of suites read-only and points out the one an alert leads to', async () => {
    renderApp('/rules?shipped=hashing%2Fdefault-history');
    const table = within(
      await screen.findByRole('table', { name: 'Rules of suites' }),
    );
    const [, ofSuite, builtIn] = table.getAllByRole('row');
    expect(ofSuite).toHaveTextContent('ledger_batch, time of native');
    expect(ofSuite).not.toHaveAttribute('aria-current');
    expect(builtIn).toHaveTextContent('built in');
    expect(builtIn).toHaveAttribute('aria-current', 'true');
  });

  it('offers writing to those who may', async () => {
    renderApp('/rules', (backend) => {
      if (backend.session !== null)
        backend.session = { ...backend.session, permissions: ['project.read'] };
    });
    await screen.findByRole('table', { name: 'Rules' });
    expect(
      screen.queryByRole('link', { name: 'New rule' }),
    ).not.toBeInTheDocument();
  });
});

async function write() {
  const app = renderApp('/rules/new');
  await screen.findByRole('form', { name: 'Rule' });
  return app;
}

describe('writing a rule', () => {
  it('shows what it would have done before it is saved, and says when the fields changed since', async () => {
    const { user, backend } = await write();
    expect(screen.getByRole('button', { name: 'Replay' })).toBeDisabled();
    await user.type(
      screen.getByRole('textbox', { name: /Minimum effect/ }),
      '5',
    );
    await user.click(screen.getByRole('button', { name: 'Replay' }));
    const outcome = await screen.findByRole('status', { name: 'Replay' });
    expect(outcome).toHaveTextContent(
      'In the last 30 days it would have fired 14×, 12 on lab-host.',
    );
    expect(within(outcome).getAllByRole('row')).toHaveLength(3);
    expect(backend.decisions.replays[0]).toMatchObject({
      days: 30,
      rule_id: null,
      rule: { min_effect: 0.05 },
    });
    expect(outcome).not.toHaveTextContent(/have changed/);
    await user.click(screen.getByRole('radio', { name: 'moves either way' }));
    expect(outcome).toHaveTextContent(/have changed/);
    expect(backend.decisions.rules).toHaveLength(2);
  });

  it('begins in shadow and is saved as it was written', async () => {
    const { user, backend, router } = await write();
    await user.type(
      screen.getByRole('textbox', { name: /Minimum effect/ }),
      '7',
    );
    await user.type(
      screen.getByRole('textbox', { name: 'Name' }),
      'native-seven',
    );
    await user.click(screen.getByRole('button', { name: 'Save rule' }));
    await waitFor(() =>
      expect(router.state.location.pathname).toBe('/rules/rule-3'),
    );
    expect(backend.decisions.rules[2]).toMatchObject({
      name: 'native-seven',
      min_effect: 0.07,
      mode: 'shadow',
    });
  });

  it('asks how often an import must arrive, and for no effect', async () => {
    const { user, backend } = await write();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Watches' }),
      'import_stopped',
    );
    expect(
      screen.queryByRole('textbox', { name: /Minimum effect/ }),
    ).not.toBeInTheDocument();
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'imports');
    const save = screen.getByRole('button', { name: 'Save rule' });
    expect(save).toBeDisabled();
    await user.type(screen.getByRole('textbox', { name: /Awaited/ }), '24');
    await user.click(save);
    await waitFor(() =>
      expect(backend.decisions.rules[2]).toMatchObject({
        kind: 'import_stopped',
        period_hours: 24,
      }),
    );
  });

  it('shows a refusal below the noise floor at the field, with its number', async () => {
    const { user, backend } = await write();
    const field = screen.getByRole('textbox', { name: /Minimum effect/ });
    await user.type(field, '1');
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'too-keen');
    await user.click(screen.getByRole('button', { name: 'Save rule' }));
    expect(
      await screen.findByText(
        /The smallest effect that can be told from noise/,
      ),
    ).toBeInTheDocument();
    expect(field).toHaveAccessibleDescription(/at least 3.1 % on pixel-8/);
    expect(field).toBeInvalid();
    expect(backend.decisions.rules).toHaveLength(2);
  });

  it('says when a replay was refused', async () => {
    const { user } = await write();
    server.use(
      http.post('*/rules/replay', () =>
        problem(503, 'unavailable', 'The database is away.'),
      ),
    );
    await user.type(
      screen.getByRole('textbox', { name: /Minimum effect/ }),
      '5',
    );
    await user.click(screen.getByRole('button', { name: 'Replay' }));
    expect(
      await screen.findByText('Not replayed: The database is away.'),
    ).toBeInTheDocument();
  });
});

async function openRule() {
  const app = renderApp('/rules/rule-1');
  await screen.findByRole('heading', { name: 'Definition' });
  return app;
}

describe('one rule', () => {
  it('tells its versions apart field by field', async () => {
    await openRule();
    expect(
      await screen.findByText('Three percent fired on every firmware update.'),
    ).toBeInTheDocument();
    expect(screen.getByLabelText('was 3 %')).toBeInTheDocument();
    expect(screen.getByLabelText('is 5 %')).toBeInTheDocument();
    expect(screen.getByLabelText('was nobody')).toBeInTheDocument();
  });

  it('says what can be told from noise where it decides', async () => {
    await openRule();
    expect(
      screen.getByText(/at least 3.1 % on pixel-8 \(ledger_batch/),
    ).toBeInTheDocument();
  });

  it('is muted with a reason and an end, and unmuted', async () => {
    const { user, backend } = await openRule();
    expect(screen.getByText('the lab was moved')).toBeInTheDocument();
    await user.type(
      screen.getByRole('textbox', { name: 'Reason' }),
      'new racks',
    );
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'For' }),
      'a week',
    );
    await user.click(screen.getByRole('button', { name: 'Mute rule' }));
    expect(await screen.findByText('new racks')).toBeInTheDocument();
    const mute = backend.decisions.rules[0]?.mute;
    expect(
      Date.parse(mute?.until ?? '') - Date.parse(mute?.created_at ?? ''),
    ).toBe(168 * 3_600_000);
    await user.click(screen.getByRole('button', { name: 'Unmute' }));
    await waitFor(() => expect(backend.decisions.rules[0]?.mute).toBeNull());
  });

  it('is changed by saving another version of it', async () => {
    const { user, backend } = await openRule();
    await user.click(screen.getByRole('button', { name: 'Edit' }));
    const field = await screen.findByRole('textbox', {
      name: /Minimum effect/,
    });
    expect(field).toHaveValue('5 %');
    await user.clear(field);
    await user.type(field, '8');
    await user.click(screen.getByRole('button', { name: 'Save new version' }));
    expect(
      await screen.findByText('gets worse by 8 % or more'),
    ).toBeInTheDocument();
    expect(backend.decisions.rules[0]).toMatchObject({
      version: 3,
      min_effect: 0.08,
      name: 'hashing-native',
    });
  });

  it('says when somebody saved another version meanwhile', async () => {
    const { user } = await openRule();
    server.use(
      http.put('*/rules/rule-1', () =>
        problem(409, 'conflict', 'Grace saved version 3 meanwhile.'),
      ),
    );
    await user.click(screen.getByRole('button', { name: 'Edit' }));
    await user.click(
      await screen.findByRole('button', { name: 'Save new version' }),
    );
    expect(
      await screen.findByText(/Grace saved version 3 meanwhile\./),
    ).toBeInTheDocument();
  });

  it('is taken out of force only after asking', async () => {
    const { user, backend, router } = await openRule();
    await user.click(screen.getByRole('button', { name: 'Remove rule' }));
    const dialog = await screen.findByRole('dialog');
    expect(backend.decisions.rules).toHaveLength(2);
    await user.click(within(dialog).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/rules'));
    expect(backend.decisions.rules).toHaveLength(1);
  });
});
