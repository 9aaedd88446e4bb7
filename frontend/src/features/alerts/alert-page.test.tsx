import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';

import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

async function open(prepare?: Parameters<typeof renderApp>[1]) {
  const app = renderApp('/alerts/alert-1', prepare);
  await screen.findByRole('heading', { name: 'Evidence' });
  return app;
}

describe('the evidence of an alert', () => {
  it('shows candidate and confirmation with their intervals, a sentence and the runs', async () => {
    await open();
    const table = screen.getByRole('table', { name: 'Findings' });
    expect(within(table).getAllByText('first seen')).toHaveLength(4);
    expect(within(table).getAllByText('confirmation')).toHaveLength(4);
    expect(within(table).getByText('1.171 – 1.210')).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Run firm-1' })).toHaveAttribute(
      'href',
      '/runs/run-confirm-1',
    );
  });

  it('shows every filter with its number and limit', async () => {
    await open();
    const name =
      'Filters of confirmation: native in ledger_batch at batch=1,000';
    const filters = await screen.findByRole('table', { name });
    expect(
      within(filters).getByText('5 of 5 launches agree; 4 are needed.'),
    ).toBeInTheDocument();
    expect(within(filters).getByText('7.9e-31')).toBeInTheDocument();
  });

  it('says that it is a demonstration', async () => {
    await open();
    expect(
      screen.getByText(/a knob slowed this run on purpose/),
    ).toBeInTheDocument();
  });
});

describe('triage on the alert', () => {
  it('acknowledges by mouse and records it in the history', async () => {
    const { user } = await open();
    await user.click(screen.getByRole('button', { name: 'Acknowledge' }));
    expect(
      await screen.findByText('acknowledge: open → acknowledged'),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Acknowledge' }),
    ).not.toBeInTheDocument();
  });

  it.each([
    ['e', 'expected'],
    ['i', 'invalid'],
    ['x', 'infra'],
    ['f', 'fixed'],
  ])('resolves with the key %s as %s', async (key, state) => {
    const { user, backend } = await open();
    await user.keyboard(key);
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.state).toBe(state),
    );
  });

  it('assigns to oneself with m and to another by choice', async () => {
    const { user, backend } = await open();
    await user.keyboard('m');
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.assignee?.name).toBe('Ada'),
    );
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Assignee' }),
      'acc-grace',
    );
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.assignee?.name).toBe('Grace'),
    );
  });

  it('takes a note with n, and letters typed there are no shortcuts', async () => {
    const { user, backend } = await open();
    await user.keyboard('n');
    expect(screen.getByRole('textbox', { name: 'Note' })).toHaveFocus();
    await user.keyboard('a fix is on its way');
    await user.click(screen.getByRole('button', { name: 'Add note' }));
    expect(
      await screen.findByText('a fix is on its way', { selector: 'p' }),
    ).toBeInTheDocument();
    expect(backend.alerts.get('alert-1')?.state).toBe('open');
    expect(screen.getByRole('textbox', { name: 'Note' })).toHaveValue('');
  });

  it('keeps a note that was not accepted in the form and says so', async () => {
    const { user } = await open();
    server.use(
      http.post('*/api/v1/alerts/:id/notes', () =>
        problem(503, 'unavailable', 'The database is away.'),
      ),
    );
    await user.type(screen.getByRole('textbox', { name: 'Note' }), 'important');
    await user.click(screen.getByRole('button', { name: 'Add note' }));
    expect(
      await screen.findByText(/Note not saved: The database is away\./),
    ).toBeInTheDocument();
    expect(screen.getByRole('textbox', { name: 'Note' })).toHaveValue(
      'important',
    );
  });

  it('is due on a day, linked to an issue, and both can be taken away', async () => {
    const { user, backend } = await open();
    const due = screen.getByLabelText('Due');
    fireEvent.change(due, { target: { value: '2031-03-09' } });
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.due_at).toBe(
        new Date('2031-03-09T23:59:59').toISOString(),
      ),
    );
    await user.type(
      screen.getByRole('textbox', { name: 'Issue' }),
      'https://tracker.example/issues/12',
    );
    await user.click(screen.getByRole('button', { name: 'Link issue' }));
    expect(
      (await screen.findAllByRole('link', { name: 'Open issue' }))[0],
    ).toHaveAttribute('href', 'https://tracker.example/issues/12');
    await user.clear(screen.getByRole('textbox', { name: 'Issue' }));
    await user.click(screen.getByRole('button', { name: 'Remove link' }));
    await waitFor(() =>
      expect(backend.alerts.get('alert-1')?.issue_url).toBeNull(),
    );
  });

  it('says why an issue was not linked', async () => {
    const { user } = await open();
    server.use(
      http.put('*/issue', () =>
        problem(422, 'invalid', 'Expected an address.'),
      ),
    );
    await user.type(
      screen.getByRole('textbox', { name: 'Issue' }),
      'https://a.example/1',
    );
    await user.click(screen.getByRole('button', { name: 'Link issue' }));
    expect(await screen.findByText('Expected an address.')).toBeInTheDocument();
  });

  it('leads to the suite’s rule, and is muted with a reason, which its header then says', async () => {
    const { user } = await open();
    expect(
      screen.getByRole('link', { name: 'native-slower-than-fallback' }),
    ).toHaveAttribute(
      'href',
      '/rules?shipped=hashing%2Fnative-slower-than-fallback',
    );
    await user.type(
      screen.getByRole('textbox', { name: 'Reason' }),
      'new racks',
    );
    await user.click(screen.getByRole('button', { name: 'Mute rule' }));
    expect(
      await screen.findByRole('button', { name: 'Unmute' }),
    ).toBeInTheDocument();
    expect(screen.getAllByText('muted')).toHaveLength(2);
    expect(screen.getByText('new racks')).toBeInTheDocument();
  });

  it('offers no mute where no rule can be written', async () => {
    await open((backend) => {
      const alert = backend.alerts.get('alert-1');
      if (alert !== undefined)
        backend.alerts.set('alert-1', { ...alert, can_be_muted: false });
    });
    expect(
      screen.queryByRole('heading', { name: 'Mute' }),
    ).not.toBeInTheDocument();
  });

  it('returns to the inbox with u', async () => {
    const { user, router } = await open();
    await user.keyboard('u');
    await waitFor(() => expect(router.state.location.pathname).toBe('/alerts'));
  });

  it('offers nothing to someone who may only read', async () => {
    const { user, backend } = await open((made) => {
      if (made.session !== null)
        made.session = { ...made.session, permissions: ['project.read'] };
    });
    expect(
      screen.getByText(/An admin of the project can make you a triager/),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Acknowledge' }),
    ).not.toBeInTheDocument();
    await user.keyboard('a');
    expect(backend.alerts.get('alert-1')?.state).toBe('open');
  });
});
