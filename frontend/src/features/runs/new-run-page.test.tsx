import { screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';

import { job, run } from '../../testing/fixtures';
import { hashingSuite } from '../../testing/fixtures-hashing';
import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';

async function open() {
  const app = renderApp('/runs/new?suite=hashing');
  await screen.findByRole('button', { name: 'Start run' });
  return app;
}

describe('repeating a run', () => {
  it('asks for what that run asked for: choice, targets, size, revision, knobs', async () => {
    const { user, backend } = renderApp(
      '/runs/new?suite=hashing&repeat=run-small',
      ({ runs }) => {
        runs.push(
          run({
            id: 'run-small',
            commit: 'ab'.repeat(20),
            branch: 'release',
            benchmarks: ['ledger_batch'],
            params: { batch: [1000, 2000] },
            knobs: { native_slowdown_percent: 300 },
            suppress: [],
            rounds: 7,
            min_time_ns: 2_000_000,
            jobs: [job({ run_id: 'run-small', launches: 3 })],
          }),
        );
      },
    );
    expect(await screen.findByText(/Filled in as/)).toHaveTextContent(
      'at commit abababababab of release',
    );
    expect(size()).toHaveTextContent(
      '2 groups with 4 cases; 3 launches × 7 rounds',
    );
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() => expect(backend.requested).toHaveLength(1));
    expect(backend.requested[0]).toMatchObject({
      targets: ['target-1'],
      commit: 'ab'.repeat(20),
      branch: 'release',
      launches: 3,
      rounds: 7,
      min_time_ns: 2_000_000,
      params: { batch: [1000, 2000] },
      knobs: { native_slowdown_percent: 300 },
    });
  });

  it('is what the page of an ended run offers, and forgets the branch of a commit that is changed', async () => {
    const { user, backend } = renderApp('/runs/run-done-1');
    await user.click(await screen.findByRole('link', { name: 'Repeat' }));
    const commit = await screen.findByLabelText('Commit');
    expect(commit).toHaveValue('3f6c9b1d7e2a4c5580a1');
    await user.clear(commit);
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() => expect(backend.requested).toHaveLength(1));
    expect(backend.requested[0]).not.toHaveProperty('commit');
    expect(backend.requested[0]).not.toHaveProperty('branch');
  });
});

describe('what is said before a run is asked for', () => {
  it('is how long it takes and what that rests on', async () => {
    await open();
    expect(
      await screen.findByRole('status', { name: 'Duration' }),
    ).toHaveTextContent(
      'lab-host: about 1 min 40 s, as the last 3 runs of the same choice took 1 min 30 s to 2 min.',
    );
  });

  it('is from where on a demonstration shows anything, and that less shows nothing', async () => {
    const { user } = await open();
    const says = await screen.findByRole('status', {
      name: 'Visible from',
    });
    expect(says).toHaveTextContent('more than 240 % makes it slower there.');
    const knob = screen.getByLabelText(/native_slowdown_percent/);
    await user.clear(knob);
    await user.type(knob, '150');
    await waitFor(() =>
      expect(says).toHaveTextContent('150 % will show nothing'),
    );
  });
});

describe('requesting a run', () => {
  it('sends the defaults and opens the new run', async () => {
    const { user, backend, router } = await open();
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(router.state.location.pathname).toBe('/runs/run-new-1'),
    );
    expect(backend.requested[0]).toMatchObject({
      suite: 'hashing',
      benchmarks: null,
      targets: null,
      launches: null,
      rounds: 20,
      knobs: {},
    });
  });

  it('says what holds a target back in the words of its own page', async () => {
    await open();
    const phone = await screen.findByRole('checkbox', { name: /pixel-8/ });
    expect(phone).toHaveAccessibleName(/recovering/);
    expect(phone).not.toHaveAccessibleName(/cooling/);
  });

  it('leaves the number of launches to the kind of target until a person says one', async () => {
    const { user, backend } = await open();
    expect(screen.getByLabelText(/^Launches/)).toHaveAttribute(
      'placeholder',
      '5 on a host, 10 on a device',
    );
    await user.click(await screen.findByRole('checkbox', { name: /pixel-8/ }));
    expect(size()).toHaveTextContent(
      '10 launches × 20 rounds, 10 fresh processes',
    );
    await user.click(await screen.findByRole('checkbox', { name: /lab-host/ }));
    expect(size()).toHaveTextContent(
      'on a host 5 launches × 20 rounds, 5 fresh processes on each target',
    );
    expect(size()).toHaveTextContent(
      'on a device 10 launches × 20 rounds, 10 fresh processes',
    );
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() => expect(backend.requested[0]?.launches).toBeNull());
  });

  it('labels demonstration knobs and sends them only when they were changed', async () => {
    const { user, backend } = await open();
    expect(
      screen.getByRole('heading', { name: 'Demonstration knobs' }),
    ).toBeInTheDocument();
    const knob = screen.getByLabelText(/native_slowdown_percent/);
    await user.clear(knob);
    await user.type(knob, '60');
    expect(
      await screen.findByText(/will be marked “demonstration”/),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]?.knobs).toEqual({
        native_slowdown_percent: 60,
      }),
    );
  });

  it('sends the chosen size and target and warns when it is too small for a verdict', async () => {
    const { user, backend } = await open();
    const launches = screen.getByLabelText(/^Launches/);
    await user.clear(launches);
    await user.type(launches, '2');
    expect(
      await screen.findByText(/every verdict is inconclusive/),
    ).toBeInTheDocument();
    await user.click(await screen.findByRole('checkbox', { name: /lab-host/ }));
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        launches: 2,
        targets: ['target-1'],
      }),
    );
  });

  it('does not start without a benchmark', async () => {
    const { user } = await open();
    await user.click(screen.getByRole('checkbox', { name: /Ledger batch/ }));
    expect(screen.getByRole('button', { name: 'Start run' })).toBeDisabled();
    expect(
      screen.getByText('Select at least one benchmark.'),
    ).toBeInTheDocument();
  });

  it('shows why the server refused and keeps the form', async () => {
    const { user } = await open();
    server.use(
      http.post('*/api/v1/runs', () =>
        problem(422, 'no_target', 'No target can run this suite.', {
          targets: 'all are offline',
        }),
      ),
    );
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    expect(
      await screen.findByText(/No target can run this suite\./),
    ).toBeInTheDocument();
    expect(screen.getByText('targets: all are offline')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Start run' })).toBeEnabled();
  });
});

async function openSuite(address: string) {
  const app = renderApp(address, (backend) => {
    backend.suites = [hashingSuite];
    backend.targets = backend.targets.filter(({ kind }) => kind === 'host');
  });
  await screen.findByRole('button', { name: 'Start run' });
  return app;
}

async function openHashing() {
  const app = await openSuite('/runs/new?suite=hashing');
  await app.user.click(screen.getByRole('button', { name: 'The whole suite' }));
  return app;
}
const size = () => screen.getByRole('status', { name: 'Size of the run' });
const values = (param: RegExp) =>
  within(screen.getByRole('group', { name: param }));

const pressed = () =>
  screen
    .getAllByRole('button', { pressed: true })
    .map(({ textContent }) => textContent);

describe('what the form opens on', () => {
  it('is the first look, because the whole suite may take hours', async () => {
    await openSuite('/runs/new?suite=hashing');
    expect(pressed()).toEqual(['First look']);
    expect(size()).toHaveTextContent('1 group with 7 cases; 3 launches');
  });

  it('is everything for revisions that another page names', async () => {
    await openSuite('/runs/new?suite=hashing&commit=b1b2c3d4&base=a1b2c3d4');
    expect(pressed()).toEqual(['The whole suite']);
    expect(size()).toHaveTextContent('42 groups');
    expect(screen.getByLabelText('Base commit')).toHaveValue('a1b2c3d4');
  });
});

describe('choosing what a run measures', () => {
  it('says how many groups, cases and processes the whole suite asks for', async () => {
    await openHashing();
    // The size is 7 batches × 5 messages × 7 arms, 2 protocols × 3 batches × 2 arms, and 11 arms of one piece.
    expect(size()).toHaveTextContent(
      '42 groups with 268 cases; 5 launches × 20 rounds, 10 fresh processes',
    );
  });

  it('sends one benchmark at chosen values only, and counts them', async () => {
    const { user, backend } = await openHashing();
    await user.click(screen.getByRole('button', { name: 'Select none' }));
    await user.click(
      screen.getByRole('checkbox', { name: /Batch of ledger fingerprints/ }),
    );
    await user.click(values(/^batch/).getByRole('checkbox', { name: '1,000' }));
    await user.click(values(/^message/).getByRole('checkbox', { name: '150' }));
    await user.click(values(/^message/).getByRole('checkbox', { name: '32' }));
    expect(size()).toHaveTextContent(
      '2 groups with 14 cases; 5 launches × 20 rounds, 5 fresh processes',
    );
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        benchmarks: ['ledger_batch'],
        params: { batch: [1000], message: [32, 150] },
      }),
    );
  });

  it('forgets a value of a param that no chosen benchmark has any more', async () => {
    const { user, backend } = await openHashing();
    await user.click(values(/^message/).getByRole('checkbox', { name: '150' }));
    await user.click(
      screen.getByRole('checkbox', { name: /Batch of ledger fingerprints/ }),
    );
    expect(
      screen.queryByRole('group', { name: /^message/ }),
    ).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        benchmarks: ['seed_protocol', 'piece'],
        params: {},
      }),
    );
  });

  it('says which benchmark lacks a chosen value before the server has to', async () => {
    const { user } = await openHashing();
    await user.click(values(/^batch/).getByRole('checkbox', { name: '10' }));
    expect(
      screen.getByText(/seed_protocol does not take batch 10:/),
    ).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Start run' })).toBeDisabled();
    await user.click(
      screen.getByRole('checkbox', { name: /The origin’s protocol/ }),
    );
    expect(screen.getByRole('button', { name: 'Start run' })).toBeEnabled();
  });

  it('can start from what the suite proposes and go back to all of it', async () => {
    const { user, backend } = await openHashing();
    await user.click(screen.getByRole('button', { name: 'First look' }));
    expect(size()).toHaveTextContent(
      '1 group with 7 cases; 3 launches × 12 rounds, 3 fresh processes',
    );
    expect(
      values(/^message/).getByRole('checkbox', { name: '150' }),
    ).toBeChecked();
    await user.click(screen.getByRole('button', { name: 'The whole suite' }));
    expect(size()).toHaveTextContent('42 groups');
    await user.click(screen.getByRole('button', { name: 'First look' }));
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        benchmarks: ['ledger_batch'],
        params: { batch: [1000], message: [150] },
        launches: 3,
        rounds: 12,
      }),
    );
  });

  it('can be filled in by keyboard alone', async () => {
    const { user, backend } = await openHashing();
    screen.getByRole('button', { name: 'Select none' }).focus();
    await user.keyboard('{Enter}{Tab} ');
    const chip = values(/^message/).getByRole('checkbox', { name: '64' });
    chip.focus();
    await user.keyboard(' ');
    screen.getByRole('button', { name: 'Start run' }).focus();
    await user.keyboard('{Enter}');
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        benchmarks: ['ledger_batch'],
        params: { message: [64] },
      }),
    );
  });
});

describe('choosing the revisions', () => {
  it('sends none when none is named', async () => {
    const { user, backend } = await open();
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() => expect(backend.requested).toHaveLength(1));
    expect(backend.requested[0]).not.toHaveProperty('commit');
    expect(backend.requested[0]).not.toHaveProperty('base_commit');
  });

  it('makes an A/B run of a base and a commit', async () => {
    const { user, backend } = await openHashing();
    await user.type(
      screen.getByRole('textbox', { name: 'Commit' }),
      'b1b2c3d4',
    );
    await user.type(
      screen.getByRole('textbox', { name: 'Base commit' }),
      'a1b2c3d4',
    );
    expect(
      screen.getByText(/An A\/B run builds both revisions/),
    ).toBeInTheDocument();
    expect(size()).toHaveTextContent(
      '5 launches × 20 rounds of each revision, 20 fresh processes',
    );
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        commit: 'b1b2c3d4',
        base_commit: 'a1b2c3d4',
      }),
    );
  });

  it('does not send what is no commit', async () => {
    const { user } = await open();
    await user.type(
      screen.getByRole('textbox', { name: 'Base commit' }),
      'main',
    );
    expect(
      screen.getByText('Expected 7 to 64 hexadecimal digits of a commit.'),
    ).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Start run' })).toBeDisabled();
  });
});
