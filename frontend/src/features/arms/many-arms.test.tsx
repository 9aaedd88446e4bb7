import { screen, waitFor, within } from '@testing-library/react';

import { addHashingScenario } from '../../testing/scenario-hashing';
import { stubLayout } from '../../testing/layout';
import { renderApp } from '../../testing/render-app';

async function open(address = '/arms?suite=hashing') {
  const app = renderApp(address, addHashingScenario);
  await screen.findByRole('list', { name: 'Arms' });
  return app;
}

const switches = () => within(screen.getByRole('list', { name: 'Arms' }));
const points = () =>
  within(screen.getByRole('table', { name: 'Comparisons' }))
    .getAllByRole('row')
    .slice(1);
const chart = () =>
  screen.getByRole('img', {
    name: /^(Ratio of|time per|js_thread per|call_time per)/,
  });

describe('a benchmark with two params', () => {
  it('draws one param on the axis and holds the other still at a value that was measured', async () => {
    await open();
    expect(chart()).toHaveAccessibleName(
      /Ratio of time to fallback, by batch at message 150/,
    );
    // There are 5 arms beside the reference, and 7 batches.
    expect(points()).toHaveLength(35);
  });

  it('moves to another value of the other param and keeps it in the address', async () => {
    const { user, router } = await open();
    await user.click(screen.getByRole('radio', { name: '1,024' }));
    await waitFor(() =>
      expect(chart()).toHaveAccessibleName(/at message 1,024/),
    );
    expect(router.state.location.search).toEqual({
      suite: 'hashing',
      at: 'message=1024',
    });
    expect(points()).toHaveLength(35);
  });

  it('puts the other param on the axis', async () => {
    const { user } = await open();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'X axis' }),
      'message',
    );
    await waitFor(() =>
      expect(chart()).toHaveAccessibleName(/by message at batch 1,000/),
    );
    expect(
      screen.getByRole('radiogroup', { name: 'batch (fingerprints)' }),
    ).toBeInTheDocument();
    expect(points()).toHaveLength(25);
  });

  it('stands all arms side by side at one point', async () => {
    const { user } = await open();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'X axis' }),
      'arms side by side',
    );
    await waitFor(() =>
      expect(chart()).toHaveAccessibleName(
        /arms side by side at batch 1,000 · message 150/,
      ),
    );
    expect(points()).toHaveLength(5);
  });

  it('falls back to what was measured when an address asks for what was not', async () => {
    await open('/arms?suite=hashing&at=message=77&x=colour&show=nothing');
    expect(chart()).toHaveAccessibleName(/by batch at message 150/);
  });

  it('lists every arm at every point when asked', async () => {
    const { user, router } = await open();
    await user.click(screen.getByRole('radio', { name: 'all (175)' }));
    await waitFor(() => expect(points()).toHaveLength(175));
    expect(router.state.location.search).toEqual({
      suite: 'hashing',
      rows: 'all',
    });
  });
});

describe('crossovers', () => {
  it('are marked in the chart and said in words, and so is that there is none', async () => {
    stubLayout();
    await open();
    const words = within(
      await screen.findByRole('list', { name: 'Crossovers' }),
    );
    expect(
      words.getByText('native wins from 10 fingerprints'),
    ).toBeInTheDocument();
    expect(
      words.getByText('native_each: no crossover with fallback'),
    ).toBeInTheDocument();
    expect(
      within(chart()).getByText('native and policy win from 10 fingerprints'),
    ).toBeInTheDocument();
  });

  it('are the server’s, whatever the ratios look like', async () => {
    stubLayout();
    renderApp('/arms?suite=hashing', (backend) => {
      addHashingScenario(backend);
      const [report] = backend.reports.values();
      for (const row of report?.derived ?? [])
        if (row.name === 'crossover_native') row.value = 5000;
    });
    expect(
      await screen.findAllByText('native wins from 5,000 fingerprints'),
    ).toHaveLength(2);
  });

  it('are told apart by their arm where one entry of the suite derives them for several', async () => {
    stubLayout();
    const consoleErrors = vi.spyOn(console, 'error');
    renderApp('/arms?suite=hashing', (backend) => {
      addHashingScenario(backend);
      for (const [id, report] of backend.reports) {
        const derived = report.derived.map((row) =>
          row.kind === 'crossover' ? { ...row, name: 'crossover' } : row,
        );
        backend.reports.set(id, { ...report, derived });
      }
    });
    const words = within(
      await screen.findByRole('list', { name: 'Crossovers' }),
    );
    expect(words.getByText(/^native wins from/)).toBeInTheDocument();
    expect(
      words.getByText('native_each: no crossover with fallback'),
    ).toBeInTheDocument();
    expect(consoleErrors).not.toHaveBeenCalled();
    consoleErrors.mockRestore();
  });

  it('go with their arm when it is switched off', async () => {
    const { user } = await open();
    const words = within(
      await screen.findByRole('list', { name: 'Crossovers' }),
    );
    await user.click(switches().getByRole('button', { name: 'native_each' }));
    await waitFor(() =>
      expect(words.queryByText(/native_each/)).not.toBeInTheDocument(),
    );
  });

  it('are not claimed for values at which they were not derived', async () => {
    const { user } = await open();
    await screen.findByRole('list', { name: 'Crossovers' });
    await user.click(screen.getByRole('radio', { name: '32' }));
    await waitFor(() =>
      expect(
        screen.queryByRole('list', { name: 'Crossovers' }),
      ).not.toBeInTheDocument(),
    );
  });
});

describe('many arms', () => {
  it('are switched by keyboard, and the address keeps which are off', async () => {
    const { user, router } = await open();
    const native = switches().getByRole('button', { name: 'native' });
    expect(native).toHaveAttribute('aria-pressed', 'true');
    native.focus();
    await user.keyboard('{Enter}');
    await waitFor(() =>
      expect(
        switches().getByRole('button', { name: 'native' }),
      ).toHaveAttribute('aria-pressed', 'false'),
    );
    expect(router.state.location.search).toEqual({
      suite: 'hashing',
      hide: 'native',
    });
    expect(points()).toHaveLength(28);
    await user.click(screen.getByRole('button', { name: 'Show all arms' }));
    await waitFor(() => expect(points()).toHaveLength(35));
  });

  it('name an arm that could not run and why, without a switch', async () => {
    await open();
    expect(
      await switches().findByText(
        /unavailable: needs Java 22 or newer; this is Java 17/,
      ),
    ).toBeInTheDocument();
    expect(
      switches().queryByRole('button', { name: /native_ffm/ }),
    ).not.toBeInTheDocument();
  });
});

describe('what has no ratio', () => {
  it('is not drawn, and the page opens at values where something is', async () => {
    await open('/arms?suite=hashing&benchmark=seed_protocol');
    expect(chart()).toHaveAccessibleName(/by batch at protocol paceline/);
  });

  it('says why instead of drawing an empty chart', async () => {
    await open('/arms?suite=hashing&benchmark=seed_protocol&at=protocol=seed');
    const panel = screen
      .getByRole('heading', { level: 2, name: 'lab-host' })
      .closest('section');
    expect(
      await within(panel as HTMLElement).findByText('Nothing to show'),
    ).toBeInTheDocument();
    expect(
      within(panel as HTMLElement).getByText(
        /The audit found order_unbalanced, too_few, warmup_in_timer/,
      ),
    ).toBeInTheDocument();
  });
});

describe('a benchmark without a param', () => {
  it('sorts its arms by ratio and shows what the suite derives for each', async () => {
    await open('/arms?suite=hashing&benchmark=piece');
    expect(
      screen.queryByRole('combobox', { name: 'X axis' }),
    ).not.toBeInTheDocument();
    const drawn = within(chart());
    const names = [
      'skip_verification',
      'native_multi',
      'async',
      'native',
      'direct',
      'seed',
    ];
    const places = names.map((name) => drawn.getByText(name));
    for (const [index, place] of places.slice(1).entries()) {
      // 4 is DOCUMENT_POSITION_FOLLOWING.
      expect(places[index]?.compareDocumentPosition(place)).toBe(4);
    }
    expect(
      await drawn.findByText('native_multi is 6.43 times as fast as seed'),
    ).toBeInTheDocument();
    expect(
      drawn.getByText('17.4 % of time of seed is not digest'),
    ).toBeInTheDocument();
  });

  it('shows every metric, with p99 and the largest sample of measured values', async () => {
    const { user, router } = await open('/arms?suite=hashing&benchmark=piece');
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Metric' }),
      'call_time',
    );
    await user.click(
      await screen.findByRole('radio', { name: 'Measured call_time' }),
    );
    await waitFor(() =>
      expect(chart()).toHaveAccessibleName(/call_time per iteration/),
    );
    expect(
      within(chart()).getByText('p99 611 µs, max 736 µs'),
    ).toBeInTheDocument();
    expect(router.state.location.search).toEqual({
      suite: 'hashing',
      benchmark: 'piece',
      metric: 'call_time',
      show: 'value',
    });
  });
});

describe('measured values', () => {
  it('stand per item with the reference among them', async () => {
    const { user } = await open('/arms?suite=hashing&show=value');
    await user.click(await screen.findByRole('radio', { name: 'item' }));
    const table = await screen.findByRole('table', {
      name: 'time per item at message 150',
      hidden: true,
    });
    const row = within(table)
      .getAllByRole('row', { hidden: true })
      .find((line) => line.textContent.startsWith('fallbackbatch 10,000'));
    expect(row).toHaveTextContent('121 ns');
    expect(
      switches().getByRole('button', { name: 'fallback' }),
    ).toBeInTheDocument();
  });

  it('offer no division where the server does not say how much an iteration holds', async () => {
    await open('/arms?suite=hashing&benchmark=seed_protocol&show=value');
    expect(
      await screen.findByRole('img', { name: /^time per iteration, by batch/ }),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('radio', { name: 'item' }),
    ).not.toBeInTheDocument();
  });
});

describe('the audit', () => {
  it('names each defect, what the means alone would have said, and what holds', async () => {
    await open('/arms?suite=hashing&benchmark=seed_protocol');
    const group = within(
      await screen.findByRole('article', {
        name: 'seed_protocol at batch 1,000 · protocol seed',
      }),
    );
    for (const name of [
      'order unbalanced',
      'too few',
      'warm-up in the timer',
      'preparation in the timer',
      'unequal work',
    ]) {
      expect(group.getByText(name)).toBeInTheDocument();
    }
    expect(
      group.getByText('native ran first in 3 of 3 blocks.'),
    ).toBeInTheDocument();
    expect(
      group.getByText('native is 18.0 % faster than fallback'),
    ).toBeInTheDocument();
    expect(group.getByText('inconclusive')).toBeInTheDocument();
    expect(
      group.getByText(
        /native is 94.0 % slower than fallback at protocol paceline/,
      ),
    ).toBeInTheDocument();
  });

  it('takes no room where it found nothing', async () => {
    await open();
    expect(
      screen.queryByRole('heading', { name: 'Audit of the measurement' }),
    ).not.toBeInTheDocument();
  });
});
