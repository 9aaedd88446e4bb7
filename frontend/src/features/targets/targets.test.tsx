import { screen, waitFor, within } from '@testing-library/react';

import { quarantinedPhone } from '../../testing/fixtures-targets';
import { renderApp } from '../../testing/render-app';

const rows = async () =>
  within(await screen.findByRole('table', { name: 'Targets' })).getAllByRole(
    'row',
  );

describe('the fleet', () => {
  it('says of each target how it is, and in the server’s words why it takes no jobs', async () => {
    renderApp('/targets');
    const [, host, hot, simulated] = await rows();
    expect(host).toHaveTextContent(
      /lab-host.*host.*busy.*takes no other job: it runs one/,
    );
    expect(hot).toHaveTextContent(
      /pixel-8.*online.*recovering.*battery at 41 °C, measuring again below 32 °C/,
    );
    expect(simulated).toHaveTextContent(
      /sim-healthy ?simulated.*good.*takes jobs/,
    );
  });

  it('does not call a phone cool that could not say', async () => {
    renderApp('/targets');
    expect((await rows())[2]).toHaveTextContent(
      /41\.0 °C, 64\.0 %, charging.*Thermal status not known/,
    );
  });

  it('says what is between a device and us instead of offline', async () => {
    renderApp(
      '/targets',
      (backend) => (backend.targets = [quarantinedPhone()]),
    );
    const [, row] = await rows();
    expect(row).toHaveTextContent(/unauthorized.*quarantined/);
    expect(row).not.toHaveTextContent(/offline/);
  });

  it('counts the findings of the preflight by level, in the plural where there are several', async () => {
    renderApp('/targets', (backend) => {
      backend.targets = [
        {
          ...quarantinedPhone(),
          preflight: [
            { code: 'low_disk', level: 'warning', text: 'Low.', advice: null },
            { code: 'turbo_on', level: 'warning', text: 'On.', advice: null },
            { code: 'old_adb', level: 'blocker', text: 'Old.', advice: null },
          ],
        },
      ];
    });
    const [, row] = await rows();
    expect(row).toHaveTextContent(/1 blocker.*2 warnings/);
    expect(row).not.toHaveTextContent(/1 blockers/);
  });

  it('keeps its filters in the address', async () => {
    const { user, router } = renderApp('/targets');
    await rows();
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Kind' }),
      'devices',
    );
    await waitFor(async () => expect(await rows()).toHaveLength(3));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Simulated' }),
      'simulated only',
    );
    await waitFor(async () => expect(await rows()).toHaveLength(2));
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Health' }),
      'quarantined',
    );
    expect(await screen.findByText('No matching targets')).toBeInTheDocument();
    expect(router.state.location.search).toEqual({
      kind: 'device',
      simulated: 'yes',
      health: 'quarantined',
    });
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(async () => expect(await rows()).toHaveLength(4));
  });

  it('finds by typed words, leaves the field to who types, and follows the back button', async () => {
    const { user, router } = renderApp('/targets');
    await rows();
    const field = screen.getByRole('searchbox', { name: 'Search' });
    await user.type(field, 'pix');
    await waitFor(async () => expect(await rows()).toHaveLength(2));
    expect(router.state.location.search).toEqual({ q: 'pix' });
    expect(field).toHaveFocus();
    await user.type(field, 'ies');
    expect(field).toHaveValue('pixies');
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ q: 'pixies' }),
    );
    router.history.back();
    await waitFor(() => expect(field).toHaveValue('pix'));
  });

  it('restores a shared address and ignores what is none of its filters', async () => {
    renderApp('/targets?health=recovering&state=nonsense');
    await waitFor(async () => expect(await rows()).toHaveLength(2));
  });
});

describe('a simulated target', () => {
  it('says so wherever it is named', async () => {
    renderApp('/runs', (backend) => {
      backend.runs = backend.runs.map((run) => ({
        ...run,
        jobs: run.jobs.map((job) => ({
          ...job,
          target_id: 'target-3',
          target_name: 'sim-healthy',
        })),
      }));
    });
    const table = await screen.findByRole('table', { name: 'Runs' });
    expect((await within(table).findAllByText('simulated')).length).toBe(5);
    expect(
      screen.getByRole('option', { name: 'sim-healthy (simulated)' }),
    ).toBeInTheDocument();
  });

  it('is not mistaken for a real one beside it', async () => {
    renderApp('/runs');
    const table = await screen.findByRole('table', { name: 'Runs' });
    await screen.findByRole('option', { name: 'sim-healthy (simulated)' });
    expect(within(table).queryByText('simulated')).not.toBeInTheDocument();
  });
});
