import { screen } from '@testing-library/react';

import { renderApp } from '../testing/render-app';

describe('the (i) beside a heading', () => {
  it('opens and closes the explanation', async () => {
    const { user } = renderApp('/alerts');
    const info = await screen.findByRole('button', { name: 'About Alerts' });
    const explanation = screen.getByText(/^Findings that need a decision/);
    expect(explanation).not.toBeVisible();
    expect(info).toHaveAttribute('aria-expanded', 'false');
    await user.click(info);
    expect(explanation).toBeVisible();
    expect(info).toHaveAttribute('aria-expanded', 'true');
    await user.click(info);
    expect(explanation).not.toBeVisible();
  });

  it('is absent where nothing needs an explanation', async () => {
    renderApp('/');
    await screen.findByRole('heading', { level: 1, name: 'Overview' });
    expect(
      screen.queryByRole('button', { name: 'About Overview' }),
    ).not.toBeInTheDocument();
  });
});
