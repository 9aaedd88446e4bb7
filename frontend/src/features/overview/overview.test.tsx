import { screen } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

describe('our own false alarms', () => {
  it('are on the overview with their counts, and lead to the alerts', async () => {
    renderApp('/');
    expect(await screen.findByRole('heading', { name: 'Our own false alarms' })).toBeInTheDocument();
    expect(screen.getByText('4.88 %')).toBeInTheDocument();
    expect(screen.getByText(/2 of 41 alerts opened in the last 90 days were false/)).toBeInTheDocument();
    expect(screen.getByRole('link', { name: '1 vanished' })).toHaveAttribute(
      'href',
      '/alerts?state=vanished',
    );
  });

  it('are no share of a handful', async () => {
    renderApp('/', ({ decisions }) => {
      decisions.falseAlarms = {
        ...decisions.falseAlarms,
        share: null,
        words: '1 of 3 alerts: too few for a share.',
      };
    });
    expect(await screen.findByText('1 of 3 alerts: too few for a share.')).toBeInTheDocument();
    expect(screen.queryByText(/^[\d.]+ %$/)).not.toBeInTheDocument();
  });
});
