import { screen, waitFor } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';
import type { FakeBackend } from '../../testing/fake-backend';
import { parseSignInSearch } from './sign-in-search';

/** Ends the session of the fake server. */
const signedOut = (backend: FakeBackend) => (backend.signedIn = false);

afterEach(() => window.history.replaceState(null, '', '/'));

describe('signing in by link', () => {
  it('goes on to where the visitor wanted to go and takes the token out of the address', async () => {
    window.history.replaceState(null, '', '/sign-in#token=good');
    const { router } = renderApp('/sign-in?next=/targets', signedOut);
    expect(
      await screen.findByRole('heading', { level: 1, name: 'Targets' }),
    ).toBeInTheDocument();
    expect(router.state.location.pathname).toBe('/targets');
    expect(window.location.hash).toBe('');
  });

  it('takes a link pasted while the page is open', async () => {
    window.history.replaceState(null, '', '/sign-in');
    const { router } = renderApp('/sign-in', signedOut);
    await screen.findByLabelText(/E-mail/);
    window.location.hash = '#token=good';
    await waitFor(() => expect(router.state.location.pathname).toBe('/'));
  });

  it('explains a link that was used or is too old and how to get a new one', async () => {
    window.history.replaceState(null, '', '/sign-in#token=spent');
    renderApp('/sign-in', signedOut);
    expect(
      await screen.findByText('This sign-in link no longer works'),
    ).toBeInTheDocument();
    expect(
      screen.getByText('paceline-server sign-in-link'),
    ).toBeInTheDocument();
    expect(screen.getByLabelText(/E-mail/)).toBeInTheDocument();
  });
});

describe('signing in by password', () => {
  it('opens the overview', async () => {
    const { user, router } = renderApp('/sign-in', signedOut);
    await user.type(await screen.findByLabelText(/E-mail/), 'ada@example.org');
    await user.type(screen.getByLabelText(/^Password/), 'right');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/'));
  });

  it('says that the two do not match and keeps what was typed', async () => {
    const { user } = renderApp('/sign-in', signedOut);
    await user.type(await screen.findByLabelText(/E-mail/), 'ada@example.org');
    await user.type(screen.getByLabelText(/^Password/), 'wrong');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(
      await screen.findByText(/Wrong e-mail or password/),
    ).toBeInTheDocument();
    expect(screen.getByLabelText(/E-mail/)).toHaveValue('ada@example.org');
  });
});

describe('the address to go on to', () => {
  it.each([
    'https://elsewhere.example',
    '//elsewhere.example',
    '/\\elsewhere.example',
    'javascript:x',
  ])('is never %s', (next) => {
    expect(parseSignInSearch({ next })).toEqual({ next: undefined });
  });

  it('is the overview when the address names another site', async () => {
    window.history.replaceState(null, '', '/sign-in#token=good');
    const { router } = renderApp(
      '/sign-in?next=//elsewhere.example',
      signedOut,
    );
    await waitFor(() => expect(router.state.location.href).toBe('/'));
  });

  it('is a path of this site', () => {
    expect(parseSignInSearch({ next: '/runs?state=done' })).toEqual({
      next: '/runs?state=done',
    });
  });
});
