import { screen, waitFor } from '@testing-library/react';

import type { FakeBackend } from '../testing/fake-backend';
import { renderApp } from '../testing/render-app';

const twoProjects = (backend: FakeBackend) => {
  if (backend.session === null) return;
  const [own] = backend.session.projects;
  if (own === undefined) return;
  backend.session = {
    ...backend.session,
    projects: [own, { ...own, name: 'kernels', title: 'Kernel lab' }],
  };
};

describe('the project switcher', () => {
  it('is not there for one project', async () => {
    renderApp('/runs');
    await screen.findAllByText(/^live-1$/);
    expect(screen.queryByRole('combobox', { name: 'Project' })).toBeNull();
  });

  it('leads to the overview of another project, which every later request and address names', async () => {
    const { user, router, backend } = renderApp('/runs', twoProjects);
    await screen.findAllByText(/^live-1$/);
    expect(backend.projects).toEqual(new Set([null]));
    await user.selectOptions(
      await screen.findByRole('combobox', { name: 'Project' }),
      'Kernel lab',
    );
    await screen.findByRole('heading', { level: 1, name: 'Overview' });
    expect(router.state.location.search).toEqual({ project: 'kernels' });
    backend.projects.clear();
    await user.click(screen.getByRole('link', { name: 'Runs' }));
    await screen.findAllByText(/^live-1$/);
    expect(router.state.location.href).toBe('/runs?project=kernels');
    expect(backend.projects).toEqual(new Set(['kernels']));
    expect(screen.getByRole('combobox', { name: 'Project' })).toHaveValue(
      'kernels',
    );
  });

  it('chooses the first where a person is a member of several and none is theirs by default', async () => {
    const { router } = renderApp('/runs', (backend) => {
      twoProjects(backend);
      backend.hasDefault = false;
    });
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ project: 'default' }),
    );
  });
});
