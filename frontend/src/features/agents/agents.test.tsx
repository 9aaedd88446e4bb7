import { screen, waitFor, within } from '@testing-library/react';

import { enrolledAgent, session, targetClaim } from '../../testing/fixtures';
import { renderApp } from '../../testing/render-app';

async function row(name: string) {
  const table = await screen.findByRole('table', { name: 'Agents' });
  return within(within(table).getByText(name).closest('tr') as HTMLElement);
}

describe('the agents', () => {
  it('are listed with what they may do', async () => {
    renderApp('/agents');
    const agent = await row(enrolledAgent.name);
    expect(agent.getByText('online')).toBeInTheDocument();
    expect(agent.getByText('git.example.org/team/*')).toBeInTheDocument();
    expect(agent.getByText('host:*, device:R5CT*')).toBeInTheDocument();
    expect(
      agent.getByText(`version ${enrolledAgent.version}, enrolled by Ada`),
    ).toBeInTheDocument();
  });

  it('are enrolled with a command to copy that holds the code', async () => {
    const { user, backend } = renderApp('/agents');
    const create = await screen.findByRole('button', { name: 'Create code' });
    expect(create).toBeDisabled();
    await user.type(
      screen.getByRole('textbox', { name: /Repositories/ }),
      'https://git.example.org/team/**\n/src/mine',
    );
    await user.click(create);
    expect(
      await screen.findByText(
        `paceline agent --server ${window.location.origin} --config agent.toml --enrol ple_once`,
      ),
    ).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Copy' })).toBeInTheDocument();
    expect(backend.enrolmentRequests).toEqual([
      {
        projects: ['default'],
        repositories: ['https://git.example.org/team/**', '/src/mine'],
        targets: ['host:*', 'device:*'],
      },
    ]);
  });

  it('say why a grant is refused, and give no command', async () => {
    const { user } = renderApp('/agents');
    await user.type(
      await screen.findByRole('textbox', { name: /Repositories/ }),
      '../../etc/passwd',
    );
    await user.click(screen.getByRole('button', { name: 'Create code' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'is no location of a repository',
    );
    expect(screen.queryByText(/--enrol/)).not.toBeInTheDocument();
  });

  it('are revoked after a question, and can be enrolled again', async () => {
    const { user, backend } = renderApp('/agents');
    await user.click(
      (await row(enrolledAgent.name)).getByRole('button', { name: /^Revoke/ }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    expect(dialog.getByText(/refused at once and for good/)).toBeVisible();
    await user.click(dialog.getByRole('button', { name: 'Revoke' }));
    const agent = await row(enrolledAgent.name);
    expect((await agent.findAllByText('revoked'))[0]).toBeVisible();
    expect(
      agent.queryByRole('button', { name: /^Rotate/ }),
    ).not.toBeInTheDocument();
    await user.click(agent.getByRole('button', { name: /^Enrol again/ }));
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Create code',
      }),
    );
    expect(await screen.findByText(/--enrol ple_once/)).toBeInTheDocument();
    expect(backend.enrolmentRequests).toEqual([{ replaces: enrolledAgent.id }]);
  });

  it('get a new credential when asked', async () => {
    const { user } = renderApp('/agents');
    await user.click(
      (await row(enrolledAgent.name)).getByRole('button', { name: /^Rotate/ }),
    );
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Rotate',
      }),
    );
    expect(
      await screen.findByText('rotated with its next heartbeat'),
    ).toBeInTheDocument();
  });

  it('may be silent for as long as an admin says', async () => {
    const { user, backend } = renderApp('/agents');
    await user.click(
      (await row(enrolledAgent.name)).getByRole('button', {
        name: /^Limit silence/,
      }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    await user.type(dialog.getByRole('textbox', { name: /Hours/ }), '1.5');
    await user.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(backend.enrolled[0]?.silence_limit_s).toBe(5400),
    );
    expect(
      await screen.findByText('alert after 1.5 h of silence'),
    ).toBeInTheDocument();
  });

  it('are granted something else', async () => {
    const { user, backend } = renderApp('/agents');
    await user.click(
      (await row(enrolledAgent.name)).getByRole('button', {
        name: /^Change grant/,
      }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    const targets = dialog.getByRole('textbox', { name: /Targets/ });
    await user.clear(targets);
    expect(dialog.getByRole('button', { name: 'Save' })).toBeDisabled();
    await user.type(targets, 'host:a1b2c3');
    await user.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(backend.enrolled[0]?.grant.targets).toEqual(['host:a1b2c3']),
    );
    expect(
      await (await row(enrolledAgent.name)).findByText('host:a1b2c3'),
    ).toBeInTheDocument();
  });

  it('are not offered to somebody who is no admin of the installation', async () => {
    renderApp('/agents', (backend) => {
      backend.session = {
        ...session,
        permissions: session.permissions.filter(
          (permission) => permission !== 'installation.admin',
        ),
      };
    });
    expect(
      await screen.findByText('No access to the agents'),
    ).toBeInTheDocument();
    expect(
      screen.queryByRole('link', { name: 'Agents' }),
    ).not.toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Create code' }),
    ).not.toBeInTheDocument();
  });
});

describe('a claimed target', () => {
  it('is moved to the agent that announces it', async () => {
    const { user, backend } = renderApp(
      '/agents',
      (initial) => (initial.claims = [targetClaim]),
    );
    const table = await screen.findByRole('table', { name: 'Claimed targets' });
    expect(within(table).getByText('lab-2')).toBeInTheDocument();
    await user.click(
      within(table).getByRole('button', { name: 'Move Pixel 8 to lab-2' }),
    );
    await waitFor(() => expect(table).not.toBeInTheDocument());
    expect(backend.decidedClaims).toEqual([{ id: 'claim-1', state: 'moved' }]);
  });

  it('stays where it is when a job runs on it, and says so', async () => {
    const { user, backend } = renderApp('/agents', (initial) => {
      initial.claims = [targetClaim];
      initial.busyTargets = [targetClaim.target.id];
    });
    await user.click(
      await screen.findByRole('button', { name: /^Move Pixel 8/ }),
    );
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'A job runs on this target.',
    );
    await user.click(screen.getByRole('button', { name: /^Keep Pixel 8/ }));
    expect(backend.decidedClaims).toEqual([]);
  });
});
