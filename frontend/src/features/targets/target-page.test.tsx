import { screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';

import { addDevicesScenario } from '../../testing/scenario-devices';
import { phone, quarantinedPhone } from '../../testing/fixtures-targets';
import { problem } from '../../testing/problems';
import { renderApp } from '../../testing/render-app';
import { server } from '../../testing/server';
import type { FakeBackend } from '../../testing/fake-backend';

const DEVICE = '/targets/target-2';
const region = (name: string) => screen.findByRole('region', { name });
const only = (made: ReturnType<typeof phone>) => (backend: FakeBackend) => {
  backend.targets = [made];
};

describe('the axes of a target', () => {
  it('stand in words, each with its reason and what to do', async () => {
    renderApp(DEVICE, only(quarantinedPhone()));
    expect(await region('Connection')).toHaveTextContent(
      /unauthorized.*The prompt on its screen was not accepted\..*Unlock it and accept.*usb:1-4\.2/,
    );
    expect(await region('Jobs')).toHaveTextContent(
      /takes no jobs.*Takes no jobs: it is in quarantine/,
    );
    expect(await region('Health')).toHaveTextContent(
      /quarantined.*3 infrastructure failures.*the hash differs\..*Look at the evidence.*last good run: 3/,
    );
  });

  it('are two for a host: it has no health checks', async () => {
    renderApp('/targets/target-1');
    expect(await region('Connection')).toHaveTextContent(
      'Reported by agent lab-host.',
    );
    expect(
      screen.queryByRole('region', { name: 'Health' }),
    ).not.toBeInTheDocument();
    expect(
      screen.queryByRole('heading', { name: 'Last health check' }),
    ).not.toBeInTheDocument();
  });

  it('change when the stream says that something did', async () => {
    const { backend, stream } = renderApp(DEVICE, only(phone()));
    expect(await region('Jobs')).toHaveTextContent('Takes jobs.');
    stream.current?.ready();
    backend.targets = [quarantinedPhone()];
    stream.current?.send({
      id: 1,
      kind: 'target',
      at: new Date().toISOString(),
      run_id: null,
      job_id: null,
      data: { id: 'target-2' },
    });
    expect(
      await screen.findByText(/Takes no jobs: it is in quarantine/),
    ).toBeInTheDocument();
  });
});

describe('the evidence of a health check', () => {
  it('is every step with what it measured, and what its commands printed', async () => {
    const { user } = renderApp(DEVICE);
    const table = await screen.findByRole('table', {
      name: 'Steps of the check',
    });
    expect(
      within(table).getByRole('row', { name: /push and hash/ }),
    ).toHaveTextContent(/passed.*38\.2 MB\/s/);
    expect(
      within(table).getByRole('row', { name: /free space/ }),
    ).toHaveTextContent('61.4 GiB');
    await user.click(screen.getByText('Command output'));
    const list = screen.getByRole('list', {
      name: 'Output of the health check',
    });
    expect(list).toHaveTextContent(/dumpsys battery exit 0/);
    expect(list).toHaveTextContent(/temperature: 410/);
    expect(list).toHaveTextContent(/did not end.*No output\./);
  });

  it('says of a step that was not looked at that it was not, which is no failure', async () => {
    const checked = phone();
    const step = {
      name: 'self_test',
      ok: null,
      text: 'the round trip failed',
      value: null,
      unit: null,
    };
    renderApp(
      DEVICE,
      only(phone({ check: { ...checked.check!, steps: [step] } })),
    );
    const table = await screen.findByRole('table', {
      name: 'Steps of the check',
    });
    expect(
      within(table).getByRole('row', { name: /self test/ }),
    ).toHaveTextContent(/not looked at.*the round trip failed/);
    expect(table).not.toHaveTextContent(/failed (?!the)/);
  });

  it('says which failure counts towards quarantine', async () => {
    renderApp(DEVICE, only(quarantinedPhone()));
    expect(
      await screen.findByText(/this counts towards quarantine/),
    ).toBeInTheDocument();
  });

  it('is absent before the first check, which is explained', async () => {
    renderApp(DEVICE, only(phone({ check: null })));
    expect(
      await screen.findByText(/a push that is hashed/),
    ).toBeInTheDocument();
  });
});

describe('the history of a target', () => {
  it('is in the server’s words with its evidence, and goes back by pages', async () => {
    const { user } = renderApp(DEVICE);
    const list = await screen.findByRole('list', { name: 'History' });
    expect(list).toHaveTextContent(
      /Was hot, low or full.*health, agent.*Evidence.*battery c: 41/,
    );
    expect(list).not.toHaveTextContent(/Was reached/);
    await user.click(screen.getByRole('button', { name: 'Show older' }));
    expect(await within(list).findByText('Was reached')).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Show older' }),
    ).not.toBeInTheDocument();
  });

  it('is of one axis when asked, and that is in the address', async () => {
    const { user, router } = renderApp(DEVICE);
    await screen.findByRole('list', { name: 'History' });
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Events' }),
      'maintenance',
    );
    await waitFor(() =>
      expect(
        within(screen.getByRole('list', { name: 'History' })).getAllByRole(
          'listitem',
        ),
      ).toHaveLength(1),
    );
    expect(router.state.location.search).toEqual({ axis: 'maintenance' });
  });
});

describe('conditions over time', () => {
  it('are drawn on one axis of time, said in a sentence and tabled', async () => {
    renderApp(DEVICE);
    const summary =
      /^Readings of the last week\. Battery temperature 2\d\.\d °C to [34]\d.*status none to moderate/;
    expect(
      await screen.findByRole('img', { name: summary }),
    ).toBeInTheDocument();
    const table = screen.getByRole('table', { name: 'Readings' });
    expect(
      within(table).getByRole('row', { name: /^Battery 64\.0 %/ }),
    ).toBeInTheDocument();
    const words =
      /a gap is a device that was not connected, or that a job measured on/;
    expect(screen.getAllByText(words)[0]).toBeInTheDocument();
  });

  it('summarise each job with what was suppressed for it', async () => {
    renderApp(DEVICE);
    const table = await screen.findByRole('table', {
      name: 'Conditions of its jobs',
    });
    expect(table).toHaveTextContent(
      /CPU frequency 2\.91 GHz.*Battery temperature 33\.1 °C, at most 36\.4 °C/,
    );
    expect(table).toHaveTextContent('unlocked_clocks');
  });

  it('go back as far as is chosen, and the choice is in the address', async () => {
    const { user, backend, router } = renderApp(DEVICE);
    await screen.findByRole('table', { name: 'Readings' });
    await user.click(screen.getByRole('radio', { name: 'month' }));
    await waitFor(() => expect(backend.fleet.windows).toHaveLength(2));
    const days =
      (Date.now() - Date.parse(backend.fleet.windows[1] ?? '')) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    expect(router.state.location.search).toEqual({ over: 'month' });
  });

  it('say why there are none', async () => {
    renderApp(DEVICE, (backend) => {
      backend.fleet.conditions = {
        tracks: [],
        gaps: [],
        jobs: [],
        note: 'No readings in this time.',
      };
    });
    expect(
      await screen.findByText('No readings in the last week'),
    ).toBeInTheDocument();
  });
});

describe('how a target is set up', () => {
  it('is told by named configuration errors with what to do', async () => {
    renderApp(DEVICE);
    const table = await screen.findByRole('table', {
      name: 'Configuration errors',
    });
    expect(table).toHaveTextContent(
      /unlocked_clocks.*its clocks are not held.*--suppress unlocked_clocks/,
    );
  });

  it('is told by preflight and the factors of its fingerprint', async () => {
    renderApp('/targets/target-1');
    expect(
      await screen.findByText(
        'Switch boost off in the firmware or the kernel.',
      ),
    ).toBeInTheDocument();
    expect(screen.getByText('EPYC 9354')).toBeInTheDocument();
  });
});

describe('what a target has measured', () => {
  it('stands on its page: its runs and its noise floors', async () => {
    renderApp(DEVICE, addDevicesScenario);
    expect(
      await screen.findByRole('table', { name: 'Noise floors' }),
    ).toHaveTextContent(/effects below 3\.1 % are not resolved here/);
    const runs = within(await screen.findByRole('table', { name: 'Runs' }))
      .getAllByRole('row')
      .slice(1);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toHaveTextContent(/pixel-8/);
  });
});

describe('an action on a target', () => {
  it('is maintenance with a reason and an end, and comes back', async () => {
    const { user, backend } = renderApp('/targets/target-1');
    await user.click(
      await screen.findByRole('button', { name: 'Start maintenance' }),
    );
    const dialog = await screen.findByRole('dialog', {
      name: 'Maintenance of lab-host',
    });
    await user.type(
      within(dialog).getByRole('textbox', { name: 'Reason' }),
      'new cooler',
    );
    await user.type(within(dialog).getByLabelText('Until'), '2031-05-06T07:08');
    await user.click(
      within(dialog).getByRole('button', { name: 'Start maintenance' }),
    );
    expect(await region('Maintenance')).toHaveTextContent(
      /By Ada, until 6 May 2031.*New cooler\./,
    );
    expect(backend.fleet.asked[0]?.body).toEqual({
      on: true,
      reason: 'new cooler',
      until: new Date('2031-05-06T07:08').toISOString(),
    });
    await user.click(
      await screen.findByRole('button', { name: 'End maintenance' }),
    );
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'End maintenance',
      }),
    );
    await waitFor(() =>
      expect(
        screen.queryByRole('region', { name: 'Maintenance' }),
      ).not.toBeInTheDocument(),
    );
    expect(backend.fleet.asked[1]?.body).toEqual({
      on: false,
      reason: null,
      until: null,
    });
  });

  it('is confirmed with a reason: a release lets nothing run before its check', async () => {
    const { user, backend } = renderApp(DEVICE, only(quarantinedPhone()));
    await user.click(await screen.findByRole('button', { name: 'Release' }));
    const dialog = await screen.findByRole('dialog', {
      name: 'Release pixel-8 from quarantine',
    });
    const confirm = within(dialog).getByRole('button', { name: 'Release' });
    expect(confirm).toBeDisabled();
    await user.type(
      within(dialog).getByRole('textbox', { name: 'Reason' }),
      'new cable',
    );
    await user.click(confirm);
    expect(
      await screen.findByText('Takes no jobs: its health is being checked.'),
    ).toBeInTheDocument();
    expect(backend.fleet.asked).toEqual([
      { action: 'release', body: { reason: 'new cable' } },
    ]);
  });

  it('is not done without being confirmed', async () => {
    const { user, backend } = renderApp(DEVICE, only(phone()));
    await user.click(await screen.findByRole('button', { name: 'Restart' }));
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Cancel',
      }),
    );
    expect(backend.fleet.asked).toEqual([]);
  });

  it('says that a restart loses a phone which listens until then, and what to do', async () => {
    const finding = {
      code: 'restart_loses_it',
      level: 'info' as const,
      text: 'It listens by TCP until it restarts.',
      advice: 'Plug it in by USB.',
    };
    const { user, backend } = renderApp(
      DEVICE,
      only({ ...phone(), preflight: [finding] }),
    );
    await user.click(await screen.findByRole('button', { name: 'Restart' }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent(
      /It cannot come back without a person\..* until it restarts\. Plug it in/,
    );
    expect(backend.fleet.asked).toEqual([]);
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await user.click(
      await screen.findByRole('button', { name: 'Check again' }),
    );
    expect(await screen.findByRole('dialog')).not.toHaveTextContent(
      /come back without a person/,
    );
  });

  it('that an agent has to carry out is shown as asked for, never as done', async () => {
    const { user } = renderApp(DEVICE, only(phone()));
    await user.click(await screen.findByRole('button', { name: 'Restart' }));
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Restart',
      }),
    );
    expect(await region('Requested')).toHaveTextContent(
      /A restart, by Ada.*Waiting for the agent’s next heartbeat/,
    );
    expect(await region('Connection')).toHaveTextContent(/online/);
  });

  it('that an agent refused is told with why', async () => {
    const order = {
      id: 'o',
      kind: 'reboot',
      life: 'refused',
      requested_by: 'Ada',
    } as const;
    const refused = {
      ...order,
      requested_at: new Date().toISOString(),
      why: 'it was restarted twice today',
    };
    renderApp(DEVICE, only(phone({ refused_orders: [refused] })));
    expect(await region('Requested')).toHaveTextContent(
      /A restart, by Ada.*, was refused: It was restarted twice today\./,
    );
  });

  it('does what its dialog says, whatever somebody else does while it is open', async () => {
    const { user, backend, stream } = renderApp(DEVICE, only(phone()));
    await user.click(
      await screen.findByRole('button', { name: 'Start maintenance' }),
    );
    const dialog = await screen.findByRole('dialog', {
      name: 'Maintenance of pixel-8',
    });
    stream.current?.ready();
    const maintenance = {
      by: 'Grace',
      reason: null,
      until: null,
      since: new Date().toISOString(),
    };
    backend.targets = [phone({ maintenance })];
    stream.current?.send({
      id: 1,
      kind: 'target',
      at: new Date().toISOString(),
      run_id: null,
      job_id: null,
      data: { id: 'target-2' },
    });
    expect(await screen.findByText(/By Grace/)).toBeInTheDocument();
    await user.click(
      within(dialog).getByRole('button', { name: 'Start maintenance' }),
    );
    await waitFor(() => expect(backend.fleet.asked).toHaveLength(1));
    expect(backend.fleet.asked[0]?.body).toEqual({
      on: true,
      reason: null,
      until: null,
    });
  });

  it('that is refused does not take back what came meanwhile', async () => {
    const { user, backend } = renderApp(DEVICE, only(phone()));
    await user.click(await screen.findByRole('button', { name: 'Restart' }));
    server.use(
      http.post('*/reboot', () => {
        backend.targets = [quarantinedPhone()];
        return problem(
          409,
          'too_many_reboots',
          'It was restarted 2 times within a day.',
        );
      }),
    );
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Restart',
      }),
    );
    expect(
      await screen.findByText(/Not done: It was restarted 2 times/),
    ).toBeInTheDocument();
    expect(
      await screen.findByText(/Takes no jobs: it is in quarantine/),
    ).toBeInTheDocument();
  });

  it('shows at once and is taken back when it is refused, with the reason and what was typed', async () => {
    const { user } = renderApp(DEVICE, only(phone()));
    await user.click(await screen.findByRole('button', { name: 'Quarantine' }));
    const answers: (() => void)[] = [];
    const answered = new Promise<void>((resolve) => void answers.push(resolve));
    server.use(
      http.post('*/quarantine', async () => {
        await answered;
        return problem(409, 'conflict', 'It is being moved to another agent.');
      }),
    );
    await user.type(
      await screen.findByRole('textbox', { name: 'Reason' }),
      'dropped on the floor',
    );
    await user.click(
      within(screen.getByRole('dialog')).getByRole('button', {
        name: 'Quarantine',
      }),
    );
    expect(await region('Health')).toHaveTextContent(
      /quarantined.*Dropped on the floor/,
    );
    expect(await region('Jobs')).toHaveTextContent('Waiting for the server.');
    answers[0]?.();
    const dialog = await screen.findByRole('dialog', {
      name: 'Quarantine pixel-8',
    });
    expect(dialog).toHaveTextContent(
      'Not done: It is being moved to another agent.',
    );
    expect(within(dialog).getByRole('textbox', { name: 'Reason' })).toHaveValue(
      'dropped on the floor',
    );
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(await region('Health')).toHaveTextContent(/good/);
  });

  it('is offered as far as the server allows it, with the restarts that are left', async () => {
    renderApp(
      DEVICE,
      only(
        phone({
          actions: ['maintenance', 'quarantine', 'recheck'],
          reboots_left: 0,
        }),
      ),
    );
    expect(
      await screen.findByRole('button', { name: 'Check again' }),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Restart' }),
    ).not.toBeInTheDocument();
    expect(
      screen.getByText(/Restarts left in 24 hours: 0/),
    ).toBeInTheDocument();
  });

  it('is for administrators only', async () => {
    renderApp(DEVICE, (backend) => {
      if (backend.session !== null)
        backend.session = { ...backend.session, permissions: ['project.read'] };
    });
    expect(
      await screen.findByText(/Only administrators can check/),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Quarantine' }),
    ).not.toBeInTheDocument();
  });
});
