import { screen, waitFor, within } from '@testing-library/react';

import { ada } from '../../testing/fixtures';
import type { FakeBackend } from '../../testing/fake-backend';
import { renderApp } from '../../testing/render-app';

const rowOf = async (label: string, text: string) => {
  const table = await screen.findByRole('table', { name: label });
  return (await within(table).findByText(text)).closest('tr') as HTMLElement;
};

/** Makes a scenario in which the person lacks these permissions. */
const without =
  (...permissions: string[]) =>
  (backend: FakeBackend) => {
    if (backend.session === null) return;
    backend.session = {
      ...backend.session,
      permissions: backend.session.permissions.filter(
        (permission) => !permissions.includes(permission),
      ),
    };
  };

describe('the members of a project', () => {
  it('get another role or are removed, with the refusal in words', async () => {
    const { user, backend } = renderApp('/members');
    const row = await rowOf('Members', 'Grace');
    await user.selectOptions(
      within(row).getByRole('combobox', { name: 'Role of Grace' }),
      'maintainer',
    );
    await waitFor(() =>
      expect(backend.people.members[1]?.role).toBe('maintainer'),
    );
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Role of Ada' }),
      'viewer',
    );
    expect(
      await screen.findByText(/Not changed: This is the project's last admin/),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Remove Grace' }));
    await user.click(await screen.findByRole('button', { name: 'Remove' }));
    await waitFor(() =>
      expect(screen.queryByText('Grace')).not.toBeInTheDocument(),
    );
  });

  it('are only read by whoever may not change them', async () => {
    renderApp('/members', without('members.write', 'installation.admin'));
    await rowOf('Members', 'Grace');
    expect(screen.queryByRole('button', { name: /Remove/ })).toBeNull();
    expect(screen.queryByRole('combobox', { name: /Role of/ })).toBeNull();
    expect(screen.queryByRole('heading', { name: 'Invitations' })).toBeNull();
  });

  it('do not change themselves', async () => {
    renderApp('/members', without('installation.admin'));
    const own = await rowOf('Members', ada.name);
    expect(within(own).queryByRole('button')).toBeNull();
    const other = await rowOf('Members', 'Grace');
    expect(within(other).getByRole('button')).toBeInTheDocument();
  });
});

describe('an invitation', () => {
  it('is a link that is shown once and can be withdrawn', async () => {
    const { user } = renderApp('/members');
    await user.type(
      await screen.findByRole('textbox', { name: /E-mail/ }),
      'new@example.org',
    );
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Role' }),
      'triager',
    );
    await user.click(screen.getByRole('button', { name: 'Invite' }));
    expect(
      await screen.findByText(
        'https://perf.example.org/invitation#token=pli_inv-2',
      ),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Hide' }));
    expect(screen.queryByText(/#token=/)).toBeNull();
    const row = await rowOf('Invitations', 'new@example.org');
    expect(row).toHaveTextContent(/triager.*open/);
    await user.click(
      within(row).getByRole('button', {
        name: 'Withdraw the invitation for new@example.org',
      }),
    );
    await user.click(await screen.findByRole('button', { name: 'Withdraw' }));
    await waitFor(() => expect(row).toHaveTextContent('withdrawn'));
  });

  it('says why somebody cannot be invited', async () => {
    const { user } = renderApp('/members');
    await user.type(
      await screen.findByRole('textbox', { name: /E-mail/ }),
      'ada@example.org',
    );
    await user.click(screen.getByRole('button', { name: 'Invite' }));
    expect(
      await screen.findByText(
        'Not invited: ada@example.org is a member already.',
      ),
    ).toBeInTheDocument();
  });
});
