import { screen, waitFor } from '@testing-library/react';

import type { FakeBackend } from '../../testing/fake-backend';
import { renderApp } from '../../testing/render-app';

const signedOut = (backend: FakeBackend) => (backend.signedIn = false);

/** Opens a page by a link with a secret in its fragment. */
function openLink(
  page: string,
  token: string,
  prepare = signedOut as (backend: FakeBackend) => void,
) {
  window.history.replaceState(null, '', `${page}#token=${token}`);
  return renderApp(page, prepare);
}

afterEach(() => window.history.replaceState(null, '', '/'));

describe('an invitation', () => {
  it('makes an account for the invited address only, and takes the token out of the address', async () => {
    const { user, router } = openLink('/invitation', 'good');
    expect(await screen.findByText('Kernel lab')).toBeInTheDocument();
    expect(window.location.hash).toBe('');
    await user.type(screen.getByLabelText(/E-mail/), 'eve@example.org');
    await user.type(screen.getByLabelText(/Name/), 'Mary');
    await user.type(screen.getByLabelText(/^Password/), 'a password of mine');
    await user.click(screen.getByRole('button', { name: 'Create account' }));
    expect(
      await screen.findByText(/for another e-mail address/),
    ).toBeInTheDocument();
    await user.clear(screen.getByLabelText(/E-mail/));
    await user.type(screen.getByLabelText(/E-mail/), 'mary@example.org');
    await user.click(screen.getByRole('button', { name: 'Create account' }));
    expect(await screen.findByText(/easily guessed/)).toBeInTheDocument();
    await user.clear(screen.getByLabelText(/^Password/));
    await user.type(screen.getByLabelText(/^Password/), 'vivid otter cello');
    await user.click(screen.getByRole('button', { name: 'Create account' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/'));
  });

  it('is accepted as who is signed in', async () => {
    const { user, router } = openLink('/invitation', 'good', () => undefined);
    await user.click(
      await screen.findByRole('button', { name: 'Join as Ada' }),
    );
    await waitFor(() => expect(router.state.location.pathname).toBe('/'));
  });

  it.each([
    ['used', 'spent', 'This invitation no longer works'],
    ['without a token', '', 'This link is incomplete'],
  ])('%s says so', async (_, token, text) => {
    if (token === '') renderApp('/invitation', signedOut);
    else openLink('/invitation', token);
    expect(await screen.findByText(text)).toBeInTheDocument();
    expect(screen.queryByRole('button')).toBeNull();
  });
});

describe('a reset link', () => {
  it('sets a password and signs in', async () => {
    const { user, router } = openLink('/reset-password', 'good');
    await user.type(
      await screen.findByLabelText(/^New password/),
      'vivid otter cello',
    );
    await user.click(screen.getByRole('button', { name: /Set password/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/'));
  });

  it('that was used says so', async () => {
    const { user } = openLink('/reset-password', 'spent');
    await user.type(
      await screen.findByLabelText(/^New password/),
      'vivid otter cello',
    );
    await user.click(screen.getByRole('button', { name: /Set password/ }));
    expect(
      await screen.findByText('This link no longer works'),
    ).toBeInTheDocument();
  });
});
