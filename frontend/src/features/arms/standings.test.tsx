import { screen, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

describe('the arms of all suites', () => {
  it('are counted by suite and target', async () => {
    renderApp('/arms');
    const table = await screen.findByRole('table', {
      name: 'Suites by target',
    });
    const [head, row] = within(table).getAllByRole('row');
    expect(
      within(head as HTMLElement)
        .getAllByRole('columnheader')
        .map((cell) => cell.textContent),
    ).toEqual(['Suite', 'lab-host', 'pixel-8']);
    expect(row).toHaveTextContent('1 won');
    expect(row).toHaveTextContent('1 lost');
    expect(row).toHaveTextContent('2 not measured');
  });

  it('lead from the worst to its chart on that target', async () => {
    const { router, user } = renderApp('/arms');
    const table = await screen.findByRole('table', {
      name: 'Arms, worst first',
    });
    const [, worst] = within(table).getAllByRole('row');
    expect(worst).toHaveTextContent('lost');
    expect(worst).toHaveTextContent('1 of 4 points');
    await user.click(
      within(worst as HTMLElement).getByRole('link', { name: 'Ledger batch' }),
    );
    expect(router.state.location.search).toEqual({
      suite: 'hashing',
      benchmark: 'ledger_batch',
      metric: 'time',
      target: 'target-2',
    });
  });

  it('name what no rule watches, and where the rest of a long list is', async () => {
    renderApp('/arms', ({ history }) => {
      history.standings = { ...history.standings, total: 240 };
    });
    expect(
      await screen.findByRole('link', { name: 'Frame check' }),
    ).toHaveAttribute('href', '/arms?suite=hashing&benchmark=frame_check');
    expect(screen.getByText('The worst 2 of 240.')).toBeInTheDocument();
  });

  it('are left for one suite and found again', async () => {
    const { router, user } = renderApp('/arms');
    await screen.findByRole('table', { name: 'Suites by target' });
    const picker = screen.getByRole('combobox', { name: 'Suite' });
    await user.selectOptions(picker, 'hashing');
    expect(await screen.findByText(/An arm fails when/)).toBeInTheDocument();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Suite' }),
      'All suites',
    );
    expect(router.state.location.search).toEqual({});
  });
});
