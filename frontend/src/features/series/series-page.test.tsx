import { fireEvent, screen, waitFor, within } from '@testing-library/react';

import {
  changeOf,
  historyPoints,
  nightOf,
  series,
  seriesPage,
} from '../../testing/fixtures-history';
import { stubLayout } from '../../testing/layout';
import { renderApp } from '../../testing/render-app';

async function open(
  address = '/series/series-1',
  prepare?: Parameters<typeof renderApp>[1],
) {
  const app = renderApp(address, prepare);
  await screen.findByRole('slider', { name: 'Point' });
  await app.user.click(screen.getByText('Points as a table'));
  await screen.findByRole('table', { name: 'Points' });
  return app;
}

const chart = () => screen.getByRole('img', { name: /^time of each job/ });
const card = () =>
  within(screen.getByRole('region', { name: 'Selected point' }));
const rows = (name: string) =>
  within(screen.getByRole('table', { name })).getAllByRole('row').slice(1);

type User = Awaited<ReturnType<typeof open>>['user'];

async function drag(user: User, from: number, to: number) {
  const target = chart().firstElementChild as HTMLElement;
  await user.pointer([
    { keys: '[MouseLeft>]', target, coords: { clientX: from } },
    { target, coords: { clientX: to } },
    { keys: '[/MouseLeft]', target, coords: { clientX: to } },
  ]);
}

describe('the page of a series', () => {
  it('says where the series stands in the server’s words', async () => {
    await open();
    expect(
      screen.getByText(/1\.37 ms since 5 Nov \(14\.2 % slower/),
    ).toBeInTheDocument();
    expect(screen.getByText(/60 points in this window/)).toBeInTheDocument();
  });

  it('names changes, environments and notes in the chart, in words', async () => {
    stubLayout();
    await open();
    const drawn = within(chart());
    expect(await drawn.findByText('A 14.2 % slower')).toBeInTheDocument();
    expect(drawn.getByText('kernel 6.1.0-12 → 6.1.0-13')).toBeInTheDocument();
    expect(drawn.getByText('New fan in the rack.')).toBeInTheDocument();
  });

  it('explains only the signs that are drawn', async () => {
    await open('/series/series-1', (backend) => {
      backend.history.page = seriesPage({ noise: null });
    });
    expect(screen.getByText('excluded')).toBeInTheDocument();
    expect(
      screen.getByText(/limit of history-default: 1\.41 ms/),
    ).toBeInTheDocument();
    expect(screen.queryByText(/^noise floor:/)).not.toBeInTheDocument();
    expect(screen.getByText(/An A\/A run .* measures it/)).toBeInTheDocument();
  });

  it('holds every point in a table, with the reason of an excluded one', async () => {
    await open();
    expect(rows('Points')).toHaveLength(60);
    expect(
      screen.getByText(
        'no: conditions void: CPU pressure 31 %, the limit is 10 %',
      ),
    ).toBeInTheDocument();
    expect(
      within(rows('Points')[0] as HTMLElement).getByRole('link'),
    ).toHaveAttribute('href', '/runs/run-night-59?job=job-night-59');
  });

  it('draws up the table of points only when it is asked for', async () => {
    renderApp('/series/series-1');
    await screen.findByRole('slider', { name: 'Point' });
    expect(
      screen.queryByRole('table', { name: 'Points' }),
    ).not.toBeInTheDocument();
  });

  it('lists a change with its evidence, its commits, its cause and its alert', async () => {
    await open();
    const [row] = rows('Changes');
    const change = within(row as HTMLElement);
    expect(change.getByText('stands')).toBeInTheDocument();
    expect(
      change.getByText(/13\.4 % to 15\.0 % slower; 24 points before, 15 after/),
    ).toBeInTheDocument();
    expect(change.getByText(/The artifact changed/)).toBeInTheDocument();
    expect(
      change.getByText(/effect: 0\.14, limit 0\.03 – holds/),
    ).toBeInTheDocument();
    expect(change.getByRole('link', { name: 'Open alert' })).toHaveAttribute(
      'href',
      '/alerts/alert-1',
    );
    expect(change.getByRole('link', { name: /^Compare/ })).toHaveAttribute(
      'href',
      expect.stringMatching(/^\/compare\?base=[^&]+&head=/),
    );
  });

  it('says the interval in the server’s words, also where it crosses zero', async () => {
    await open('/series/series-1', (backend) => {
      const crosses = { effect: -0.069, lower: -0.088, upper: 0.049 };
      const words = { interval_words: '8.8 % faster to 4.9 % slower' };
      backend.history.page = seriesPage({
        changes: [changeOf({ ...crosses, ...words })],
      });
    });
    expect(
      await screen.findByText(/^8\.8 % faster to 4\.9 % slower; 24 points/),
    ).toBeInTheDocument();
  });

  it('gives changes their letters by time, whatever order they come in', async () => {
    stubLayout();
    await open('/series/series-1', (backend) => {
      const early = changeOf({
        id: 'early',
        at: nightOf(10),
        words: '3 % faster: …',
        direction: 'faster',
      });
      backend.history.page = seriesPage({ changes: [changeOf(), early] });
    });
    expect(
      await within(chart()).findByText('A 3 % faster'),
    ).toBeInTheDocument();
    expect(within(chart()).getByText('B 14.2 % slower')).toBeInTheDocument();
  });

  it('does not draw a change that vanished, and still lists it', async () => {
    stubLayout();
    await open('/series/series-1', (backend) => {
      backend.history.page = seriesPage({
        changes: [changeOf({ state: 'vanished' })],
      });
    });
    expect(await screen.findByText('vanished')).toBeInTheDocument();
    expect(within(chart()).queryByText(/slower/)).not.toBeInTheDocument();
  });

  it('says why each level begins, and that nothing was looked at yet', async () => {
    await open();
    const because = rows('Levels').map(
      (row) => row.lastElementChild?.textContent,
    );
    expect(because).toEqual([
      '14.2 % slower: 1.2 ms → 1.37 ms',
      'kernel 6.1.0-12 → 6.1.0-13',
      'first point',
    ]);
  });

  it('says so when an excluded point lies outside the picture', async () => {
    await open('/series/series-1', (backend) => {
      backend.history.points = historyPoints.map((point) =>
        point.excluded === null
          ? point
          : Object.assign({}, point, { value: point.value * 9 }),
      );
    });
    expect(screen.getByText('excluded, outside the chart')).toBeInTheDocument();
    expect(screen.queryByText('excluded')).not.toBeInTheDocument();
  });

  it('draws the conditions it is given and names them with their range', async () => {
    await open();
    expect(
      screen.getByRole('img', { name: /^Temperature: 51\.0 °C to 55\.0 °C/ }),
    ).toBeInTheDocument();
    expect(
      screen.getByRole('img', { name: /^Load \(1 min\): 0\.30 to 0\.60/ }),
    ).toBeInTheDocument();
  });
});

describe('the rule that decides about a series', () => {
  it('is a link, and says why it is this one', async () => {
    const applied = { rule_id: 'rule-1', version: 2, name: 'hashing-native' };
    await open('/series/series-1', (backend) => {
      const page = seriesPage();
      if (page.rule === null)
        throw new Error('the fixture has a rule in force');
      backend.history.page = { ...page, rule: { ...page.rule, ...applied } };
    });
    expect(
      screen.getByRole('link', { name: 'hashing-native' }),
    ).toHaveAttribute('href', '/rules/rule-1');
    expect(
      await screen.findByText(
        /The most specific matching rule decides\. This one covers suite hashing · arm native · metric time\./,
      ),
    ).toBeInTheDocument();
  });

  it('is the built-in default where nobody wrote one, and leads to writing it', async () => {
    await open();
    expect(
      screen.getByText(/No other rule matches this series/),
    ).toBeInTheDocument();
    const write = screen.getByRole('link', {
      name: 'New rule for this series',
    });
    expect(write).toHaveAttribute(
      'href',
      expect.stringContaining('benchmark='),
    );
  });
});

const armRulePanel = async () => {
  const heading = await screen.findByRole('heading', {
    name: 'Rule about arms',
  });
  const section = heading.closest('section');
  if (section === null) throw new Error('a panel is a section');
  return within(section);
};

describe('the rule about its arm beside the reference', () => {
  it('is told beside the one about its history, with its mute', async () => {
    await open('/series/series-1', (backend) => {
      backend.decisions.appliedToArms = {
        ...backend.decisions.appliedToArms,
        rule_id: 'rule-2',
        version: 3,
        name: 'arms-of-hashing',
        mode: 'shadow',
        muted: 'muted by Ada until 2026-11-24 08:00 UTC: flaky fan',
      };
    });
    const { getByRole, getByText } = await armRulePanel();
    expect(getByRole('link', { name: 'arms-of-hashing' })).toHaveAttribute(
      'href',
      '/rules/rule-2',
    );
    expect(getByText(/, version 3/)).toBeInTheDocument();
    expect(getByText('shadow')).toBeInTheDocument();
    expect(getByText(/^Muted: muted by Ada.*flaky fan$/)).toBeInTheDocument();
  });

  it('is the manifest as shipped where nobody wrote one', async () => {
    await open();
    const { getByText, queryByRole } = await armRulePanel();
    expect(getByText(/manifest apply as shipped/)).toBeInTheDocument();
    expect(getByText('as-shipped')).toBeInTheDocument();
    expect(queryByRole('link')).not.toBeInTheDocument();
  });
});

describe('the chosen point', () => {
  it('is the newest until one is chosen, and leads to its run, the run before and an A/B run', async () => {
    await open();
    expect(card().getByRole('link', { name: 'ght-59' })).toHaveAttribute(
      'href',
      '/runs/run-night-59?job=job-night-59',
    );
    expect(
      card().getByRole('link', { name: 'Compare with previous run' }),
    ).toHaveAttribute(
      'href',
      '/compare?base=run-night-58&head=run-night-59&target=target-1',
    );
    expect(
      card().getByRole('link', { name: /A\/B run of both commits/ }),
    ).toHaveAttribute(
      'href',
      expect.stringMatching(
        /^\/runs\/new\?suite=hashing&base=[0-9a-f]{40}&commit=[0-9a-f]{40}$/,
      ),
    );
  });

  it('leads to no A/B run where another tool measured it, and no A/A run is missed', async () => {
    await open('/series/series-1', (backend) => {
      backend.history.series = [series({ imported: true })];
      backend.history.page = seriesPage({ noise: null });
    });
    expect(
      card().getByRole('link', { name: 'Compare with previous run' }),
    ).toBeInTheDocument();
    expect(card().queryByRole('link', { name: /A\/B run/ })).toBeNull();
    expect(screen.queryByText(/A\/A run/)).toBeNull();
    expect(screen.queryByText(/^Arms of this/)).toBeNull();
    expect(
      screen.queryByRole('heading', { name: 'Rule about arms' }),
    ).toBeNull();
  });

  it('moves with the slider, is kept in the address and read out', async () => {
    const { router } = await open();
    const slider = screen.getByRole('slider', { name: 'Point' });
    fireEvent.change(slider, { target: { value: '33' } });
    expect(
      await screen.findByText(/^conditions void: CPU pressure 31 %/),
    ).toBeInTheDocument();
    expect(router.state.location.search).toEqual({ point: 'job-night-33' });
    expect(slider).toHaveAttribute(
      'aria-valuetext',
      expect.stringMatching(/ms.*excluded/),
    );
  });

  it('is compared with the one before that counts', async () => {
    await open('/series/series-1?point=job-night-34');
    await waitFor(() =>
      expect(
        card().getByRole('link', { name: 'Compare with previous run' }),
      ).toHaveAttribute(
        'href',
        '/compare?base=run-night-32&head=run-night-34&target=target-1',
      ),
    );
  });

  it('is the one under a click', async () => {
    stubLayout(960, 350);
    const { router, user } = await open();
    await drag(user, 85, 86);
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ point: 'job-night-0' }),
    );
  });

  it('is read beside the pointer before it is chosen', async () => {
    stubLayout(960, 350);
    const { router, user } = await open();
    await user.pointer({
      target: chart().firstElementChild as HTMLElement,
      coords: { clientX: 85 },
    });
    expect(
      await within(chart()).findByText(/^commit a1b2c3d4/),
    ).toBeInTheDocument();
    await user.pointer({
      target: chart().firstElementChild as HTMLElement,
      coords: { clientX: 520 },
    });
    expect(
      within(chart()).queryByText(/^commit a1b2c3d4/),
    ).not.toBeInTheDocument();
    expect(router.state.location.search).toEqual({});
  });
});

describe('the window of a series', () => {
  it('is dragged out over the chart, asked of the server and kept in the address', async () => {
    stubLayout(960, 350);
    const { router, user, backend } = await open();
    await drag(user, 600, 300);
    await waitFor(() =>
      expect(router.state.location.search).toHaveProperty('from'),
    );
    const { from, to } = router.state.location.search as {
      from: string;
      to: string;
    };
    expect(from < to).toBe(true);
    await waitFor(() =>
      expect(backend.history.windows.at(-1)).toEqual({ from, to }),
    );
    await waitFor(() => expect(rows('Points').length).toBeLessThan(30));
  });

  it('is restored from a shared address, and shown whole again', async () => {
    const [from, to] = [nightOf(40), nightOf(50)];
    const { user, router, backend } = await open(
      `/series/series-1?from=${from}&to=${to}`,
    );
    await waitFor(() => expect(rows('Points')).toHaveLength(11));
    expect(backend.history.windows[0]).toEqual({ from, to });
    await user.click(screen.getByRole('button', { name: 'Show all' }));
    await waitFor(() => expect(rows('Points')).toHaveLength(60));
    expect(router.state.location.search).toEqual({});
  });

  it('can be changed by buttons alone', async () => {
    const { user, router } = await open();
    expect(screen.getByRole('button', { name: 'Zoom out' })).toBeDisabled();
    screen.getByRole('button', { name: 'Zoom in' }).focus();
    await user.keyboard('{Enter}');
    await waitFor(() => expect(rows('Points').length).toBeLessThan(32));
    expect(screen.getByRole('button', { name: 'Later' })).toBeDisabled();
    const before = router.state.location.search as { from: string };
    await user.click(screen.getByRole('button', { name: 'Earlier' }));
    await waitFor(() =>
      expect(
        (router.state.location.search as { from: string }).from < before.from,
      ).toBe(true),
    );
  });

  it('holds the newest point, though the server’s instants are finer than the browser’s', async () => {
    const { user } = await open('/series/series-1', (backend) => {
      backend.history.points = historyPoints.map((point) =>
        Object.assign({}, point, { at: point.at.replace('Z', '789Z') }),
      );
    });
    await user.click(screen.getByRole('button', { name: 'Zoom in' }));
    await waitFor(() => expect(rows('Points').length).toBeLessThan(32));
    expect(rows('Points')[0]).toHaveTextContent('ght-59');
  });

  it('is a step to come back from; walking over points is not', async () => {
    const { user, router } = await open();
    await user.click(screen.getByRole('button', { name: 'Zoom in' }));
    await waitFor(() =>
      expect(router.state.location.search).toHaveProperty('from'),
    );
    fireEvent.change(screen.getByRole('slider', { name: 'Point' }), {
      target: { value: '3' },
    });
    await waitFor(() =>
      expect(router.state.location.search).toHaveProperty('point'),
    );
    router.history.back();
    await waitFor(() => expect(router.state.location.search).toEqual({}));
  });

  it('says what the server left out of it', async () => {
    await open('/series/series-1', (backend) => {
      backend.history.thinned =
        '60 of 1,200 points are shown. Zoom in to see all.';
    });
    expect(
      screen.getByText(
        /1,200 points in this window\. 60 of 1,200 points are shown/,
      ),
    ).toBeInTheDocument();
  });

  it('says that nothing was measured in it and leads back', async () => {
    const app = renderApp(
      '/series/series-1?from=2001-01-01T00:00:00Z&to=2001-02-01T00:00:00Z',
    );
    await app.user.click(
      await screen.findByRole('button', { name: 'Show all points' }),
    );
    expect(
      await screen.findByRole('slider', { name: 'Point' }),
    ).toBeInTheDocument();
  });

  it('ignores an address that is no instant', async () => {
    const { backend } = await open('/series/series-1?from=yesterday');
    expect(backend.history.windows[0]).toEqual({ from: null, to: null });
    expect(rows('Points')).toHaveLength(historyPoints.length);
  });
});

describe('notes of a series', () => {
  it('are written beside the chosen point, for the series or for all of its target', async () => {
    const { user, backend } = await open('/series/series-1?point=job-night-12');
    await user.type(
      screen.getByRole('textbox', { name: /Note for the selected point/ }),
      'New disk.',
    );
    await user.click(
      screen.getByRole('radio', { name: 'every series of lab-host' }),
    );
    await user.click(screen.getByRole('button', { name: 'Add note' }));
    const notes = within(await screen.findByRole('list', { name: 'Notes' }));
    expect(await notes.findByText(/New disk\./)).toBeInTheDocument();
    expect(backend.history.page?.annotations.at(-1)).toMatchObject({
      target_id: 'target-1',
      series_id: null,
      at: nightOf(12),
    });
  });

  it('can be taken away again', async () => {
    const { user } = await open();
    const notes = within(screen.getByRole('list', { name: 'Notes' }));
    await user.click(
      notes.getByRole('button', {
        name: 'Remove the note “New fan in the rack.”',
      }),
    );
    await waitFor(() =>
      expect(screen.queryByText(/New fan in the rack/)).not.toBeInTheDocument(),
    );
    expect(
      screen.getByText(/Add one to say what happened at a point/),
    ).toBeInTheDocument();
  });

  it('are only read by who may not write', async () => {
    await open('/series/series-1', (backend) => {
      if (backend.session !== null)
        backend.session = { ...backend.session, permissions: ['project.read'] };
    });
    expect(screen.getAllByText(/New fan in the rack/)[0]).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: /^Remove the note/ }),
    ).not.toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Add note' }),
    ).not.toBeInTheDocument();
  });
});
