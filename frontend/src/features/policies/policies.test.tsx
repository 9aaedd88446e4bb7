import { screen, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

const CARD = { name: 'minimum_native_batch on pixel-8' };

describe('usage policy advice', () => {
  it('says in a sentence from where the arm wins, after how many rounds, and what is in force', async () => {
    renderApp('/policies');
    const card = await screen.findByRole('article', CARD);
    expect(card).toHaveTextContent(
      'On pixel-8 native wins from 1,870 fingerprints (95 %: 1,400–2,300) after 1 warm-up round; ' +
        'policy in force: from 2,000, after 1 warm-up round.',
    );
    expect(within(card).getByText('policy holds')).toBeInTheDocument();
    expect(card).toHaveTextContent(/When cold: native wins from 2,600/);
  });

  it('shows its history: when it was wrong, and what was in force then', async () => {
    const { user } = renderApp('/policies');
    await user.click(
      await screen.findByRole('button', { name: 'Show history' }),
    );
    const table = await screen.findByRole('table', {
      name: 'History of the policy',
    });
    expect(within(table).getByText('policy is wrong here')).toBeInTheDocument();
    expect(
      within(table).getAllByText('from 2,000, after 1 warm-up round'),
    ).toHaveLength(2);
  });

  it('stands on the page of its target, and not on another’s', async () => {
    renderApp('/targets/target-2');
    expect(await screen.findByRole('article', CARD)).toBeInTheDocument();
  });

  it('is absent where no policy was measured', async () => {
    renderApp('/targets/target-1');
    await screen.findByRole('heading', { name: 'Preflight' });
    expect(
      screen.queryByRole('heading', { name: 'Usage policy' }),
    ).not.toBeInTheDocument();
  });

  it('stands on the overview and beside the arms of its benchmark', async () => {
    const { user } = renderApp('/');
    expect(await screen.findByRole('article', CARD)).toBeInTheDocument();
    await user.click(screen.getByRole('link', { name: 'Arms' }));
    await user.selectOptions(
      await screen.findByRole('combobox', { name: 'Suite' }),
      'hashing',
    );
    await screen.findByRole('combobox', { name: 'Benchmark' });
    expect(await screen.findByRole('article', CARD)).toBeInTheDocument();
  });

  it('says that a policy is wrong, or not known', async () => {
    renderApp('/policies', ({ decisions }) => {
      decisions.policies = [
        { ...decisions.policies[0]!, holds: false },
        { ...decisions.policies[0]!, holds: null, policy: 'other' },
      ];
    });
    expect(await screen.findByText('policy is wrong here')).toBeInTheDocument();
    expect(screen.getByText('not known yet')).toBeInTheDocument();
  });
});
