import { onlineManager } from '@tanstack/react-query';
import { screen, waitFor, within } from '@testing-library/react';
import { http, HttpResponse } from 'msw';

import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

describe('the list of runs', () => {
  it('filters by what the address says and keeps the filters there', async () => {
    const { user, router } = renderApp('/runs?state=failed');
    const table = await screen.findByRole('table', { name: 'Runs' });
    expect(
      await screen.findByRole('option', { name: 'failed, lost or expired' }),
    ).toBeInTheDocument();
    expect(within(table).getAllByRole('row')).toHaveLength(2);
    expect(screen.getByRole('combobox', { name: 'State' })).toHaveValue(
      'failed',
    );
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'State' }),
      '',
    );
    await waitFor(() => expect(router.state.location.search).toEqual({}));
  });

  it('does not show rows of the filter before to a browser that is offline', async () => {
    const { user } = renderApp('/runs');
    await screen.findByRole('table', { name: 'Runs' });
    server.use(http.get('*/api/v1/runs', () => HttpResponse.error()));
    onlineManager.setOnline(false);
    try {
      await user.selectOptions(
        screen.getByRole('combobox', { name: 'State' }),
        'failed',
      );
      expect(
        await screen.findByText('Cannot reach the server'),
      ).toBeInTheDocument();
      expect(screen.queryByRole('table', { name: 'Runs' })).toBeNull();
    } finally {
      onlineManager.setOnline(true);
    }
  });

  it('offers to clear filters that match nothing', async () => {
    const { user, router } = renderApp('/runs?suite=nothing&trigger=ci');
    await user.click(
      await screen.findByRole('button', { name: 'Clear filters' }),
    );
    await waitFor(() => expect(router.state.location.search).toEqual({}));
    expect(
      await screen.findByRole('table', { name: 'Runs' }),
    ).toBeInTheDocument();
  });

  it('are asked for from a day on, which the address keeps', async () => {
    const { router, user } = renderApp('/runs');
    await user.type(await screen.findByLabelText('From'), '2026-07-01');
    const begins = new Date('2026-07-01T00:00').toISOString();
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ from: begins }),
    );
    expect(screen.getByLabelText('From')).toHaveValue('2026-07-01');
  });

  it('ignores a filter it does not know', async () => {
    renderApp('/runs?state=exploded');
    const table = await screen.findByRole('table', { name: 'Runs' });
    expect(within(table).getAllByRole('row').length).toBeGreaterThan(3);
  });
});
