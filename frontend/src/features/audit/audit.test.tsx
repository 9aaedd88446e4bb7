import { screen, waitFor, within } from '@testing-library/react';

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
      screen.getByRole('combobox', { name: 'About' }),
      'rules',
    );
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    expect(router.state.location.search).toEqual({
      actor: 'Ada',
      object_kind: 'rule',
    });
  });
});
