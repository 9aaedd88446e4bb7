import { screen, waitFor, within } from '@testing-library/react';

import {
  DEVICE_JOB,
  reportedLines,
  addDevicesScenario,
} from '../../testing/scenario-devices';
import { renderApp } from '../../testing/render-app';

const open = () => renderApp('/runs/run-device-1', addDevicesScenario);
const panel = async () =>
  within(
    (await screen.findByRole('heading', { name: 'Conditions' })).closest(
      'section',
    ) as HTMLElement,
  );

describe('a run on a device', () => {
  it('has the launches of its jobs, not those that a host would have', async () => {
    renderApp('/runs/run-device-1', (backend) => {
      addDevicesScenario(backend);
      const device = backend.runs.find(({ id }) => id === 'run-device-1');
      if (device !== undefined) device.launches = 5;
    });
    expect(
      await screen.findByText('10 launches × 20 rounds'),
    ).toBeInTheDocument();
  });

  it('has tracks of temperature and of each cluster’s frequency under it', async () => {
    open();
    const picture = await (
      await panel()
    ).findByRole('img', { name: /^Conditions over time/ });
    expect(picture).toHaveTextContent(/CPU frequency · cpu0-31\.80 GHz/);
    expect(picture).toHaveTextContent(/CPU frequency · cpu4-72\.35 GHz/);
    expect(picture).toHaveTextContent(/Battery temperature35\.4 °C/);
    expect(picture).toHaveTextContent(/Temperature56\.4 °C/);
  });

  it('says what the device could not say, and what its log told', async () => {
    open();
    expect(
      await (
        await panel()
      ).findByText(/Not reported by the device: Thermal status\./),
    ).toBeInTheDocument();
    expect(
      (await panel()).getByRole('list', { name: 'Device log events' }),
    ).toHaveTextContent(/CPU0 throttled/);
  });

  it('keeps the texts of every reading to look at, fetched when they are looked at', async () => {
    const { user } = open();
    const shown = await panel();
    await user.click(await shown.findByText('Command output'));
    expect(await shown.findByText(/\(reading 0\)/)).toBeInTheDocument();
    await user.selectOptions(
      shown.getByRole('combobox', { name: 'Reading' }),
      'between launches, at 21 s',
    );
    expect(await shown.findByText(/\(reading 1\)/)).toBeInTheDocument();
    expect(
      shown.getByRole('list', { name: 'Output of the reading' }),
    ).toHaveTextContent(/dumpsys thermalservice exit 0/);
  });

  it('says beside its verdicts what was suppressed for them', async () => {
    open();
    expect(
      await screen.findByText(/despite suppressed configuration errors/),
    ).toHaveTextContent('unlocked_clocks');
  });

  it('has what apps reported in its log, line by line with its launch, and says what it is not', async () => {
    open();
    const shown = await screen.findByRole('table', {
      name: 'Reported by the app',
    });
    const [between, second, torn] = within(shown).getAllByRole('row').slice(1);
    expect(between).toHaveTextContent(
      /^mine\.latency–11-21 22:00:09\.113batch 1,000, arm native, avg 2\.82ms$/,
    );
    expect(second).toHaveTextContent(/^mine\.latency2/);
    expect(torn).toHaveTextContent(/MyApp: Batchexpected a whole number/);
    expect(
      screen.getByText(/not samples, and no verdict rests on them/),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Next page' }),
    ).not.toBeInTheDocument();
  });

  it('shows many reported lines in pages', async () => {
    const { user } = renderApp('/runs/run-device-1', (backend) => {
      addDevicesScenario(backend);
      backend.reported.set(DEVICE_JOB, reportedLines(60));
    });
    await screen.findByText(/^batch 1,049,/);
    expect(screen.queryByText(/^batch 1,050,/)).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Next page' }));
    await screen.findByText(/^batch 1,050,/);
  });

  it('shows nothing of a log in which nothing was reported', async () => {
    renderApp('/runs/run-done-1');
    await (await panel()).findByRole('img', { name: /^Conditions over time/ });
    expect(screen.queryByText('Reported by the app')).not.toBeInTheDocument();
  });

  it('of a host has no texts to look at', async () => {
    renderApp('/runs/run-done-1');
    await (await panel()).findByRole('img', { name: /^Conditions over time/ });
    expect(screen.queryByText('Command output')).not.toBeInTheDocument();
  });
});

describe('asking for a run', () => {
  it('suppresses a configuration error by its name, offered only where a chosen target has it', async () => {
    const { user, backend } = renderApp('/runs/new');
    await user.click(
      await screen.findByRole('checkbox', { name: /^lab-host/ }),
    );
    expect(
      screen.queryByRole('checkbox', { name: 'unlocked_clocks' }),
    ).not.toBeInTheDocument();
    await user.click(screen.getByRole('checkbox', { name: /^pixel-8/ }));
    await user.click(
      await screen.findByRole('checkbox', { name: 'unlocked_clocks' }),
    );
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]?.suppress).toEqual(['unlocked_clocks']),
    );
  });
});
