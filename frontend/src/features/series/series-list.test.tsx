import { fireEvent, screen, waitFor, within } from '@testing-library/react';

import { importedSuite } from '../../testing/fixtures';
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

const chosen = (name: string) =>
  screen.getByRole('combobox', { name }) as HTMLSelectElement;

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
      screen.getByRole('searchbox', { name: 'Search' }),
      'frame native',
    );
    await waitFor(() => expect(rows()).toHaveLength(1));
    expect(router.state.location.search).toEqual({ text: 'frame native' });
  });

  it('keeps the days in the address as instants, and drops what is none', async () => {
    const { router } = await open(
      '/series?from=2026-11-02&to=2026-11-03T00:00:00Z',
    );
    expect(screen.getByLabelText('Measured from')).toHaveValue('');
    expect(screen.getByLabelText('Before')).not.toHaveValue('');
    fireEvent.change(screen.getByLabelText('Measured from'), {
      target: { value: '2026-11-02' },
    });
    await waitFor(() =>
      expect(router.state.location.search).toMatchObject({
        from: new Date('2026-11-02T00:00').toISOString(),
      }),
    );
  });

  it('filters by target and by whether there is a change', async () => {
    const { user, router } = await open();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Changes' }),
      'yes',
    );
    await waitFor(() => expect(rows()).toHaveLength(1));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Target' }),
      'target-2',
    );
    expect(await screen.findByText('No matching series')).toBeInTheDocument();
    expect(router.state.location.search).toEqual({
      changed: 'yes',
      target: 'target-2',
    });
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(() => expect(rows()).toHaveLength(3));
  });

  it('offers suites that another tool measured, with their benchmarks, and marks their series', async () => {
    const app = renderApp('/series?suite=pytest_benchmark', (backend) => {
      backend.suites.push(importedSuite);
      backend.history.series = [
        series({ suite: importedSuite.name, imported: true }),
      ];
    });
    await screen.findByRole('table', { name: 'Series' });
    expect(rows()[0]).toHaveTextContent(/lab-host imported/);
    await waitFor(() =>
      expect(chosen('Suite').selectedOptions[0]).toHaveTextContent(
        importedSuite.title,
      ),
    );
    await app.user.selectOptions(chosen('Benchmark'), 'test_parse');
    await waitFor(() =>
      expect(app.router.state.location.search).toEqual({
        suite: importedSuite.name,
        benchmark: 'test_parse',
      }),
    );
  });

  it('restores a shared address, in the names that people gave', async () => {
    await open('/series?benchmark=ledger_batch&target=target-1');
    await waitFor(() =>
      expect(chosen('Benchmark').selectedOptions[0]).toHaveTextContent(
        'Ledger batch',
      ),
    );
    expect(chosen('Target').selectedOptions[0]).toHaveTextContent('lab-host');
    expect(rows()).toHaveLength(1);
  });
});
