import { screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

describe('noise floors', () => {
  it('say what a target can tell apart and which threshold follows', async () => {
    renderApp('/noise');
    const table = await screen.findByRole('table', { name: 'Noise floors' });
    expect(within(table).getByText('3.1 %')).toBeInTheDocument();
    expect(within(table).getByText('3.5 %')).toBeInTheDocument();
    expect(within(table).getAllByText('A/A 0.994 – 1.008')).toHaveLength(2);
  });

  it('are kept by target in the address', async () => {
    const { user, router } = renderApp('/noise');
    await screen.findByRole('table', { name: 'Noise floors' });
    await user.selectOptions(screen.getByRole('combobox', { name: 'Target' }), 'lab-host');
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    expect(router.state.location.search).toEqual({ target: 'target-1' });
  });

  it('lead to a rule that begins with the proposed threshold', async () => {
    const { user } = renderApp('/noise?target=target-2');
    await user.click(
      await screen.findByRole('link', { name: 'Write a rule for ledger_batch, native on pixel-8' }),
    );
    expect(await screen.findByRole('textbox', { name: /Least effect/ })).toHaveValue('3.5 %');
    expect(screen.getByRole('combobox', { name: 'Target' })).toHaveValue('pixel-8');
  });
});
