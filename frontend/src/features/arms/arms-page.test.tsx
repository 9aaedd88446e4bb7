import { screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

describe('the arms page', () => {
  it.each(['lab-host', 'pixel-8'])(
    'draws %s with a sentence and a table beside the chart',
    async (name) => {
      renderApp('/arms?suite=hashing');
      const panel = (
        await screen.findByRole('heading', { level: 2, name })
      ).closest('section') as HTMLElement;
      expect(within(panel).getByRole('img')).toHaveAccessibleName(
        /native is .* than fallback at batch 1,000/,
      );
      expect(within(panel).getAllByRole('row').length).toBe(5);
    },
  );

  it('states the rule in words', async () => {
    renderApp('/arms?suite=hashing');
    expect(await screen.findByText(/An arm fails when/)).toBeInTheDocument();
  });

  it('opens with the point most in need of a look and shows its distribution', async () => {
    renderApp('/arms?suite=hashing');
    expect(
      await screen.findByRole('heading', {
        name: 'Distribution at batch 1,000 on pixel-8',
      }),
    ).toBeInTheDocument();
    expect(
      await screen.findByRole('table', { name: 'Distribution per arm' }),
    ).toBeInTheDocument();
  });

  it('keeps the chosen point in the address', async () => {
    const { user, router } = renderApp('/arms?suite=hashing');
    await user.click(
      await screen.findByRole('button', {
        name: 'Distribution of native at batch 5,000, lab-host',
      }),
    );
    expect(
      await screen.findByRole('heading', {
        name: 'Distribution at batch 5,000 on lab-host',
      }),
    ).toBeInTheDocument();
    expect(router.state.location.search).toMatchObject({
      point: 'target-1|job-1|ledger_batch|time|native|fallback|arms|batch=5000',
    });
  });

  it('restores a shared address', async () => {
    renderApp(
      '/arms?suite=hashing&target=target-1&point=target-1|job-1|ledger_batch|time|native|fallback|arms|batch=2000',
    );
    expect(
      await screen.findByRole('heading', {
        name: 'Distribution at batch 2,000 on lab-host',
      }),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('heading', { level: 2, name: 'pixel-8' }),
    ).not.toBeInTheDocument();
  });

  it('asks for one target when one is picked', async () => {
    const { user, router } = renderApp('/arms?suite=hashing');
    await screen.findByRole('heading', { level: 2, name: 'pixel-8' });
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Target' }),
      'target-1',
    );
    await waitFor(() =>
      expect(
        screen.queryByRole('heading', { level: 2, name: 'pixel-8' }),
      ).not.toBeInTheDocument(),
    );
    expect(router.state.location.search).toEqual({
      suite: 'hashing',
      target: 'target-1',
    });
  });

  it('shows the words and verdicts of the server, untouched', async () => {
    renderApp('/arms?suite=hashing', (backend) => {
      backend.comparisons = backend.comparisons.slice(0, 1).map((row) =>
        Object.assign({}, row, {
          ratio: 1.5,
          verdict: 'pass',
          words: 'exactly what the server said',
        }),
      );
    });
    const table = await screen.findByRole('table', { name: 'Comparisons' });
    expect(
      within(table).getByText('exactly what the server said'),
    ).toBeInTheDocument();
    expect(within(table).getByText('pass')).toBeInTheDocument();
  });
});
