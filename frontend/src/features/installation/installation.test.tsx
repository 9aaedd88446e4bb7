import { screen, waitFor, within } from '@testing-library/react';

import { renderApp } from '../../testing/render-app';

const rowOf = async (table: string, text: string) => {
  const found = await screen.findByRole('table', { name: table });
  return (await within(found).findByText(text)).closest('tr') as HTMLElement;
};

describe('accounts of the installation', () => {
  it('are disabled, made admins and handed reset links, but never ones own', async () => {
    const { user } = renderApp('/installation');
    const own = await rowOf('Accounts', 'ada@example.org');
    expect(within(own).queryByRole('button')).toBeNull();
    await user.click(
      screen.getByRole('button', { name: 'Make a reset link for Grace' }),
    );
    expect(
      await screen.findByText(/reset-password#token=pll_1/),
    ).toBeInTheDocument();
    await user.click(
      screen.getByRole('button', { name: 'Make Grace an admin' }),
    );
    await user.click(await screen.findByRole('button', { name: 'Make admin' }));
    const grace = await rowOf('Accounts', 'grace@example.org');
    await waitFor(() => expect(grace).toHaveTextContent(/Grace admin/));
    await user.click(screen.getByRole('button', { name: 'Disable Grace' }));
    await user.click(await screen.findByRole('button', { name: 'Disable' }));
    await waitFor(() => expect(grace).toHaveTextContent(/disabled/));
    expect(
      within(grace).getByRole('button', { name: 'Enable Grace' }),
    ).toBeInTheDocument();
  });
});

describe('projects and their targets', () => {
  it('are made and granted, with refusals in words', async () => {
    const { user, backend } = renderApp('/installation');
    const name = await screen.findByRole('textbox', {
      name: /^Name \*|^Name$/,
    });
    await user.type(name, 'default');
    await user.type(screen.getByRole('textbox', { name: /Title/ }), 'Again');
    await user.click(screen.getByRole('button', { name: 'Make project' }));
    expect(
      await screen.findByText(/Not made: A project named 'default' exists/),
    ).toBeInTheDocument();
    await user.clear(name);
    await user.type(name, 'kernels');
    await user.click(screen.getByRole('button', { name: 'Make project' }));
    expect(await rowOf('Projects', 'kernels')).toHaveTextContent('Again');
    await user.click(
      await screen.findByRole('switch', {
        name: 'This project may use lab-host',
      }),
    );
    await waitFor(() => expect(backend.people.targets[0]?.granted).toBe(false));
  });
});
