import { screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

describe('tokens of programs', () => {
  it('are made with what their maker may do, shown once, and revoked', async () => {
    const { user, backend } = renderApp('/tokens', (initial) => {
      if (initial.session !== null)
        initial.session = {
          ...initial.session,
          permissions: initial.session.permissions.filter(
            (permission) => permission !== 'installation.admin',
          ),
        };
    });
    await user.type(
      await screen.findByRole('textbox', { name: /Name/ }),
      'bot',
    );
    const choices = screen.getAllByRole('checkbox');
    expect(choices).toHaveLength(15);
    await user.click(
      screen.getByRole('checkbox', { name: /start and stop runs/ }),
    );
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'In force for' }),
      'until it is revoked',
    );
    await user.click(screen.getByRole('button', { name: 'Make token' }));
    expect(await screen.findByText('plt_secret_of_tok-2')).toBeInTheDocument();
    expect(backend.people.tokens[0]).toMatchObject({
      permissions: ['project.read', 'targets.use'],
      expires_at: null,
    });
    await user.click(screen.getByRole('button', { name: 'Hide' }));
    expect(screen.queryByText(/plt_secret/)).toBeNull();
    await user.click(await screen.findByRole('button', { name: 'Revoke bot' }));
    await user.click(await screen.findByRole('button', { name: 'Revoke' }));
    const table = screen.getByRole('table', { name: 'Tokens' });
    const row = within(table).getByText('bot').closest('tr') as HTMLElement;
    await waitFor(() => expect(row).toHaveTextContent(/revoked.*never.*never/));
    expect(within(row).queryByRole('button')).toBeNull();
  });

  it('are not in the navigation of whoever may not make them', async () => {
    renderApp('/runs', (initial) => {
      if (initial.session !== null)
        initial.session = { ...initial.session, permissions: ['project.read'] };
    });
    await screen.findAllByText(/^live-1$/);
    for (const name of ['Tokens', 'Installation', 'Members', 'Audit log'])
      expect(screen.queryByRole('link', { name })).toBeNull();
  });
});
