import { screen, waitFor, within } from '@testing-library/react';

import { importedSuite, run } from '../../testing/fixtures';
import { compared, compareRow } from '../../testing/fixtures-history';
import { renderApp } from '../../testing/render-app';

const ADDRESS = '/compare?base=a1b2c3d4&head=b1b2c3d4';

async function open(
  address = ADDRESS,
  prepare?: Parameters<typeof renderApp>[1],
) {
  const app = renderApp(address, prepare);
  await screen.findByRole('heading', { name: 'Environment' });
  return app;
}

const table = () =>
  screen.getByRole('table', { name: 'Measurements of both sides' });
const rows = () => within(table()).getAllByRole('row').slice(1);

describe('comparing two sides', () => {
  it('asks for both sides first, and keeps them in the address', async () => {
    const { user, router, backend } = renderApp('/compare');
    expect(
      await screen.findByText('Choose a base and a head'),
    ).toBeInTheDocument();
    await user.type(screen.getByRole('combobox', { name: 'Base' }), ' run_1 ');
    await user.type(screen.getByRole('combobox', { name: 'Head' }), 'run_2');
    await user.click(screen.getByRole('button', { name: 'Compare' }));
    expect(
      await screen.findByRole('heading', { name: 'Environment' }),
    ).toBeInTheDocument();
    expect(router.state.location.search).toEqual({
      base: 'run_1',
      head: 'run_2',
    });
    expect(backend.history.compares.at(-1)).toEqual({
      base: 'run_1',
      head: 'run_2',
      limit: '200',
    });
  });

  it('offers what was measured last, and takes the newest commit of a branch for it', async () => {
    const { user, router } = renderApp('/compare', (backend) => {
      backend.runs = [
        run({ id: 'run-new', commit: 'c'.repeat(40), branch: 'main' }),
        run({ id: 'run-old', commit: 'b'.repeat(40), branch: 'main' }),
        run({ id: 'run-live', state: 'active', commit: 'd'.repeat(40) }),
      ];
    });
    await user.click(await screen.findByRole('combobox', { name: 'Base' }));
    const list = within(await screen.findByRole('listbox', { name: 'Base' }));
    const offered = (await list.findAllByRole('option')).map(
      (option) => option.textContent,
    );
    expect(offered.map((text) => text?.split(' ')[0])).toEqual([
      'main',
      'cccccccccccc',
      'bbbbbbbbbbbb',
      'un-new',
      'un-old',
    ]);
    await user.click(screen.getByRole('option', { name: /^bbbbbbbbbbbb/ }));
    await user.type(screen.getByRole('combobox', { name: 'Head' }), 'main');
    await user.click(screen.getByRole('button', { name: 'Compare' }));
    await waitFor(() =>
      expect(router.state.location.search).toEqual({
        base: 'b'.repeat(12),
        head: 'c'.repeat(12),
      }),
    );
  });

  it('shows the text of names with a digest, in rows and in the filter', async () => {
    const { user } = await open(ADDRESS, (backend) => {
      backend.history.compare = {
        ...compared,
        choices: { ...compared.choices, benchmarks: ['b__0123456789abcdef'] },
        rows: [
          compareRow({ benchmark: 'b__0123456789abcdef', arm: 'n_8__76' }),
        ],
        name_texts: { b__0123456789abcdef: '解析', n_8__76: 'n<=8' },
      };
    });
    expect(rows()[0]).toHaveTextContent(/^解析 · n<=8/);
    await user.click(screen.getByRole('combobox', { name: 'Benchmark' }));
    expect(
      await screen.findByRole('option', { name: '解析' }),
    ).toBeInTheDocument();
  });

  it('shows what differs around them before what was measured', async () => {
    await open();
    const differs = screen.getByRole('list', {
      name: 'Environment differences',
    });
    expect(differs).toHaveTextContent('lab-host: kernel 6.1.0-12 → 6.1.0-13');
    expect(differs.compareDocumentPosition(table())).toBe(
      Node.DOCUMENT_POSITION_FOLLOWING,
    );
  });

  it.each([
    [true, /had the same environment/],
    [false, /their environments cannot be compared/],
  ])(
    'says whether the surroundings are known to be the same (%s)',
    async (same, words) => {
      await open(ADDRESS, (backend) => {
        backend.history.compare = {
          ...compared,
          environment: [],
          same_environment: same,
        };
      });
      expect(screen.getByText(words)).toBeInTheDocument();
    },
  );

  it('keeps the server’s order and words, and says that it is shown, not judged', async () => {
    await open();
    expect(
      rows().map((row) =>
        row.children[1]?.textContent?.replaceAll('\u00a0', ' '),
      ),
    ).toEqual([
      '14.2 % slower (12.0 % slower to 16.5 % slower)',
      '0.4 % slower (1.0 % faster to 2.0 % slower)',
    ]);
    expect(
      screen.getByText(/^Shown, not judged: the two sides/),
    ).toBeInTheDocument();
    expect(within(table()).queryByText('fail')).not.toBeInTheDocument();
    expect(within(table()).getByText('clear')).toBeInTheDocument();
  });

  it('says how large every difference is, and that rows are ranked by it', async () => {
    await open();
    const headers = within(table()).getAllByRole('columnheader');
    const column = headers.findIndex(
      (header) => header.textContent === 'Magnitude',
    );
    expect(rows().map((row) => row.children[column]?.textContent)).toEqual([
      'medium',
      'none',
    ]);
    expect(within(table()).getByText('medium')).toHaveAttribute(
      'title',
      expect.stringMatching(/by size/),
    );
  });

  it('shows a verdict only where an A/B job decided', async () => {
    await open(ADDRESS, (backend) => {
      const judged = compareRow({
        judged: true,
        verdict: 'fail',
        verdict_job_id: 'job-ab',
      });
      backend.history.compare = {
        ...compared,
        rows: [judged, compareRow({ arm: 'fallback' })],
      };
    });
    expect(
      within(rows()[0] as HTMLElement).getByText('fail'),
    ).toBeInTheDocument();
    expect(
      within(rows()[0] as HTMLElement).getByText('judged by an A/B job'),
    ).toBeInTheDocument();
    expect(
      screen.getByText(/the columns Base and Head from ordinary runs/),
    ).toBeInTheDocument();
    expect(
      within(rows()[1] as HTMLElement).queryByText(/judged by/),
    ).not.toBeInTheDocument();
  });

  it('says where an A/B job measured the pair and could not decide', async () => {
    await open(ADDRESS, (backend) => {
      const undecided = compareRow({
        significance: 'uncertain',
        verdict_job_id: 'job-ab',
      });
      backend.history.compare = {
        ...compared,
        rows: [undecided, compareRow({ arm: 'fallback' })],
      };
    });
    expect(
      within(rows()[0] as HTMLElement).getByText('A/B job inconclusive'),
    ).toBeInTheDocument();
    expect(
      within(rows()[1] as HTMLElement).queryByText(/A\/B job inconclusive/),
    ).not.toBeInTheDocument();
  });

  it('hides what is uncertain when asked, says how much, and keeps that in the address', async () => {
    const { user, router, backend } = await open();
    await user.click(
      screen.getByRole('switch', { name: /Hide uncertain rows/ }),
    );
    await waitFor(() => expect(rows()).toHaveLength(1));
    expect(
      screen.getByText('Hide uncertain rows (1 hidden)'),
    ).toBeInTheDocument();
    expect(router.state.location.search).toMatchObject({ only: 'clear' });
    expect(backend.history.compares.at(-1)).toMatchObject({
      hide_uncertain: 'true',
    });
  });

  it('shows more rows when asked, and says how many there are', async () => {
    const { user } = await open(ADDRESS, (backend) => {
      backend.history.comparePage = 1;
    });
    expect(rows()).toHaveLength(1);
    expect(
      screen.getByText('1 of 2 rows, clearest and largest first'),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(() => expect(rows()).toHaveLength(2));
    expect(
      screen.queryByRole('button', { name: 'Show more' }),
    ).not.toBeInTheDocument();
  });

  it('reads all rows again when they have changed since the page before', async () => {
    const { user } = await open(ADDRESS, (backend) => {
      backend.history.comparePage = 1;
      backend.history.compareMoved = true;
    });
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await user.click(await screen.findByRole('button', { name: 'Reload' }));
    await user.click(await screen.findByRole('button', { name: 'Show more' }));
    await waitFor(() => expect(rows()).toHaveLength(2));
  });

  it('offers every benchmark that was measured, also those of rows on later pages', async () => {
    const { user, router } = await open(ADDRESS, (backend) => {
      backend.history.comparePage = 1;
    });
    expect(rows()).toHaveLength(1);
    await user.selectOptions(
      screen.getByRole('combobox', { name: 'Benchmark' }),
      'piece',
    );
    await waitFor(() =>
      expect(router.state.location.search).toMatchObject({
        benchmark: 'piece',
      }),
    );
  });

  it('says so when nothing differs clearly', async () => {
    const { user } = await open(`${ADDRESS}&only=clear`, (backend) => {
      backend.history.compare = {
        ...compared,
        rows: [compareRow({ significance: 'uncertain' })],
      };
    });
    expect(screen.getByText('No clear differences')).toBeInTheDocument();
    await user.click(
      screen.getByRole('button', { name: 'Show uncertain rows' }),
    );
    await waitFor(() => expect(rows()).toHaveLength(1));
  });

  it('offers an A/B run of the two commits with the form filled in', async () => {
    const { user, backend } = await open();
    await user.click(screen.getByRole('link', { name: 'Start an A/B run' }));
    expect(
      await screen.findByText(/An A\/B run builds both revisions/),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Start run' }));
    await waitFor(() =>
      expect(backend.requested[0]).toMatchObject({
        base_commit: compared.base.commit,
        commit: compared.head.commit,
      }),
    );
  });

  it('offers none between two runs of one commit', async () => {
    await open(ADDRESS, (backend) => {
      backend.history.compare = {
        ...compared,
        head: { ...compared.head, commit: compared.base.commit },
      };
    });
    expect(
      screen.queryByRole('link', { name: 'Start an A/B run' }),
    ).not.toBeInTheDocument();
  });

  it('offers none of a suite that another tool measured, which can be chosen', async () => {
    const { user } = await open(
      `${ADDRESS}&suite=pytest_benchmark`,
      (backend) => {
        backend.suites.push(importedSuite);
        backend.history.compare = { ...compared, suite: importedSuite.name };
      },
    );
    expect(
      await screen.findByDisplayValue(importedSuite.title),
    ).toBeInTheDocument();
    await user.click(screen.getByRole('switch', { name: /Hide uncertain/ }));
    expect(
      screen.queryByRole('link', { name: 'Start an A/B run' }),
    ).not.toBeInTheDocument();
  });

  it('says why two sides that it knows cannot be compared', async () => {
    const refusal = 'The base measured the suite a, the head b.';
    renderApp(ADDRESS, (backend) => {
      backend.history.compareRefusal = refusal;
    });
    const said = await screen.findByRole('alert');
    expect(said).toHaveTextContent(/^These two cannot be compared/);
    expect(said).toHaveTextContent(refusal);
    expect(said).not.toHaveTextContent('invalid_request');
  });

  it('names the side the server does not know and what to do', async () => {
    renderApp('/compare?base=unknown0&head=b1b2c3d4');
    expect(
      await screen.findByText('There is no such revision.'),
    ).toBeInTheDocument();
    expect(screen.getByText(/measure the revision first/)).toBeInTheDocument();
  });

  it('can be turned round', async () => {
    const { user, router } = await open();
    await user.click(screen.getByRole('button', { name: 'Swap' }));
    await waitFor(() =>
      expect(router.state.location.search).toEqual({
        base: 'b1b2c3d4',
        head: 'a1b2c3d4',
      }),
    );
  });
});
