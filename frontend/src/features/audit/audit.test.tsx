import { fireEvent, screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

describe('the audit log', () => {
  it('says who did what in a sentence, with its detail, and leads to the thing', async () => {
    renderApp('/audit');
    const table = await screen.findByRole('table', { name: 'Audit log' });
    expect(
      within(table).getByText('Grace decided about several alerts at once'),
    ).toBeInTheDocument();
    expect(within(table).getByText('0.05')).toBeInTheDocument();
    expect(within(table).getByRole('link', { name: 'alert' })).toHaveAttribute(
      'href',
      '/alerts/alert-3',
    );
    expect(within(table).getByRole('link', { name: 'rule' })).toHaveAttribute(
      'href',
      '/rules/rule-1',
    );
  });

  it('keeps its filters in the address', async () => {
    const { user, router } = renderApp('/audit');
    await screen.findByRole('table', { name: 'Audit log' });
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'By' }),
      'Ada',
    );
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(3));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Subject' }),
      'rules',
    );
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    expect(router.state.location.search).toEqual({
      actor: 'Ada',
      object_kind: 'rule',
    });
  });

  it('is narrowed to a kind of author and to days, and says when nothing is left', async () => {
    const { user, router } = renderApp('/audit');
    await screen.findByRole('table', { name: 'Audit log' });
    fireEvent.change(screen.getByLabelText('From'), {
      target: { value: '2020-01-02' },
    });
    const from = new Date('2020-01-02T00:00').toISOString();
    await waitFor(() => expect(router.state.location.search).toEqual({ from }));
    expect(screen.getByLabelText('From')).toHaveValue('2020-01-02');
    expect(await screen.findAllByRole('row')).toHaveLength(4);
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Kind of author' }),
      'tokens',
    );
    expect(await screen.findByText('No matching changes')).toBeInTheDocument();
  });

  it('of the installation is offered to its admins only', async () => {
    const { user } = renderApp('/audit');
    await user.selectOptions(
      await screen.findByRole('combobox', { name: 'Log of' }),
      'The installation',
    );
    expect(
      await screen.findByText(/made account Grace an admin/),
    ).toBeInTheDocument();
  });

  it('of the installation is not offered to others', async () => {
    renderApp('/audit', (backend) => {
      if (backend.session !== null)
        backend.session = { ...backend.session, permissions: ['audit.read'] };
    });
    await screen.findByRole('table', { name: 'Audit log' });
    expect(screen.queryByRole('combobox', { name: 'Log of' })).toBeNull();
  });
});
