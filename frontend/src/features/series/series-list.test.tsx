import { screen, waitFor, within } from '@testing-library/react';

import { series } from '../../testing/fixtures-history';
import { renderApp } from '../../testing/render-app';

async function open(address = '/series') {
  const app = renderApp(address, (backend) => {
    backend.history.series.push(
      series({
        id: 'series-3',
        benchmark: 'frame_check',
        changes: { suspect: 2 },
      }),
    );
  });
  await screen.findByRole('table', { name: 'Series' });
  return app;
}

const rows = () =>
  within(screen.getByRole('table', { name: 'Series' }))
    .getAllByRole('row')
    .slice(1);

describe('finding a series', () => {
  it('leads from each row to its history and says what changed', async () => {
    await open();
    expect(rows()).toHaveLength(3);
    expect(screen.getByText('1 standing')).toBeInTheDocument();
    expect(screen.getByText('2 suspect')).toBeInTheDocument();
    expect(within(rows()[0] as HTMLElement).getByRole('link')).toHaveAttribute(
      'href',
      '/series/series-1',
    );
  });

  it('filters by words once they are sent, and keeps them in the address', async () => {
    const { user, router } = await open();
    await user.type(
      screen.getByRole('searchbox', { name: 'Words of its name' }),
      'frame native',
    );
    await waitFor(() => expect(rows()).toHaveLength(1));
    expect(router.state.location.search).toEqual({ text: 'frame native' });
  });

  it('filters by target and by whether there is a change', async () => {
    const { user, router } = await open();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Change' }),
      'yes',
    );
    await waitFor(() => expect(rows()).toHaveLength(1));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Target' }),
      'target-2',
    );
    expect(
      await screen.findByText('No series matches these filters'),
    ).toBeInTheDocument();
    expect(router.state.location.search).toEqual({
      changed: 'yes',
      target: 'target-2',
    });
    await user.click(screen.getByRole('button', { name: 'Clear the filters' }));
    await waitFor(() => expect(rows()).toHaveLength(3));
  });

  it('restores a shared address', async () => {
    await open('/series?benchmark=frame_check');
    await waitFor(() => expect(rows()).toHaveLength(1));
  });
});
