import { screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

const rows = () =>
  within(screen.getByRole('table', { name: 'Sessions' })).getAllByRole('row');

describe('my sessions', () => {
  it('end one by one, but for the one in use', async () => {
    const { user } = renderApp('/account');
    const [, current, other] = await screen
      .findByRole('table', { name: 'Sessions' })
      .then(rows);
    expect(current).toHaveTextContent(
      /Firefox on Linux.*this one.*192\.0\.2\.7/,
    );
    expect(within(current as HTMLElement).queryByRole('button')).toBeNull();
    await user.click(
      within(other as HTMLElement).getByRole('button', {
        name: 'End the session of Chrome on Android',
      }),
    );
    await user.click(
      await screen.findByRole('button', { name: 'End session' }),
    );
    await waitFor(() => expect(rows()).toHaveLength(2));
    expect(
      screen.queryByRole('button', { name: 'Sign out everywhere else' }),
    ).toBeNull();
  });

  it('all end at once but this one', async () => {
    const { user } = renderApp('/account');
    await user.click(
      await screen.findByRole('button', { name: 'Sign out everywhere else' }),
    );
    await user.click(await screen.findByRole('button', { name: 'Sign out' }));
    await waitFor(() => expect(rows()).toHaveLength(2));
  });
});

describe('my password', () => {
  it('is changed with the present one', async () => {
    const { user } = renderApp('/account');
    await user.type(await screen.findByLabelText(/^Present password/), 'wrong');
    await user.type(
      screen.getByLabelText(/^New password/),
      'vivid otter cello',
    );
    const change = screen.getByRole('button', { name: 'Change password' });
    await user.click(change);
    expect(
      await screen.findByText(/Not changed: The present password is wrong/),
    ).toBeInTheDocument();
    await user.clear(screen.getByLabelText(/^Present password/));
    await user.type(screen.getByLabelText(/^Present password/), 'right');
    await user.click(change);
    expect(await screen.findByText(/Password set/)).toBeInTheDocument();
    expect(screen.getByLabelText(/^New password/)).toHaveValue('');
  });

  it('is not asked of an account that has no address to sign in with', async () => {
    renderApp('/account', (backend) => {
      if (backend.session !== null)
        backend.session = {
          ...backend.session,
          account: { ...backend.session.account, email: null },
        };
    });
    expect(
      await screen.findByText(/no e-mail address to sign in with/),
    ).toBeInTheDocument();
    expect(screen.queryByLabelText(/^New password/)).toBeNull();
  });
});
