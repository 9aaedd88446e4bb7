import { screen, waitFor, within } from '@testing-library/react';

import { importedSuite } from '../../testing/fixtures';
import { NONSENSE } from '../../testing/handlers-fleet';
import { renderApp } from '../../testing/render-app';

const rowsOf = async (name: string) =>
  within(await screen.findByRole('table', { name }))
    .getAllByRole('row')
    .slice(1);

const SIGNING = {
  id: 'sign/dalek/32',
  benchmark: 'sign',
  arm: 'dalek',
  params: { message: 32 },
  metric: 'time',
  unit: 'ns' as const,
  samples: 1000,
  median: 13_740,
  outliers_mild: 12,
  outliers_severe: 3,
  summary: null,
};

const ITS_RUN = {
  run_id: 'run-9',
  job_id: 'job-9',
  baseline: 'before',
  commit: null,
  at: null,
  series: [SIGNING],
};

describe('an imported document', () => {
  it('has a row for each point of the params that advice is about, and its whole fingerprint', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        advice: document.advice.flatMap((advice) =>
          advice.target_id === null
            ? [advice]
            : [advice, { ...advice, params: { message: 1500 }, holds: true }],
        ),
      }));
    });
    const rows = await rowsOf('The policy against advice');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toHaveTextContent(
      /minimum_native_batch.*hashing, message 150.*policy is wrong here/,
    );
    expect(rows[1]).toHaveTextContent(
      /minimum_native_batch.*hashing, message 1,500.*policy holds/,
    );
    expect(screen.getByText('ef'.repeat(32))).toBeInTheDocument();
  });

  it('is a table of printed averages with percentages computed, never a verdict', async () => {
    renderApp('/imports/import-1');
    const [slower, faster] = await rowsOf('Rows of the document');
    expect(slower).toHaveTextContent(
      /Xiaomi 13T Pro.*API 35, warm-up \(1 round\).*batch 1,000/,
    );
    expect(slower).toHaveTextContent(
      /13\.43 ms.*11\.93 ms.*\+1\.5 ms.*12\.6 % slower/,
    );
    expect(faster).toHaveTextContent(/-9\.74 ms.*14\.6 % faster.*insufficient/);
    expect(
      screen.getByText(/averages only: there is nothing to judge/),
    ).toBeInTheDocument();
  });

  it('of samples has its runs, with outliers counted', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'paceline.result/1',
        why_no_verdict: 'One after another: `paceline ab` gets one.',
        runs: [ITS_RUN],
      }));
    });
    const [signing] = await rowsOf('Benchmarks of branch before');
    expect(signing).toHaveTextContent(
      /^sign\/dalek\/32sign · dalek · time · message=3213\.7 µs.*1,00012 and 3/,
    );
    expect(screen.getByText('paceline ab').tagName).toBe('CODE');
    expect(screen.getByText('not stated')).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'The run of branch before' }),
    ).toHaveAttribute('href', '/runs/run-9');
  });

  it('of any tool is on a branch, marks summaries, and gives its file back', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'paceline.result/1',
        runs: [
          {
            ...ITS_RUN,
            baseline: 'new',
            at: '2021-03-04T05:06:07Z',
            series: [{ ...SIGNING, summary: 'mean' }],
          },
        ],
        tool: 'catch2 3.7.1',
        facts: { cpu: 'AMD EPYC' },
        judged: true,
        replaced_by: 'import-2',
        original_bytes: 2048,
      }));
    });
    const [signing] = await rowsOf('Benchmarks of branch new');
    expect(signing).toHaveTextContent(/none, its mean/);
    for (const stated of [
      'catch2 3.7.1',
      '4 Mar 2021',
      'AMD EPYC',
      'judged, and nobody is told',
    ])
      expect(screen.getByText(stated)).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'the import of a corrected file' }),
    ).toHaveAttribute('href', '/imports/import-2');
    expect(
      screen.getByRole('link', { name: 'light-ledger.txt' }),
    ).toHaveAttribute('href', '/api/v1/imports/import-1/original');
  });

  it('names what was left out, other units, and the commit of a run', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'paceline.result/1',
        runs: [
          {
            ...ITS_RUN,
            baseline: 'new',
            commit: 'b'.repeat(40),
            series: [
              {
                ...SIGNING,
                id: '解析',
                benchmark: 'b__0123456789abcdef',
                metric: 'bytes',
                unit: 'bytes' as const,
              },
            ],
          },
        ],
        left_out: [
          { id: 'hash/16', path: 'line 2', why: "its unit is 'cycles'" },
          { id: null, path: 'cut/new', why: 'expected JSON' },
        ],
      }));
    });
    const [measured] = await rowsOf(
      `Benchmarks of branch new at ${'b'.repeat(12)}`,
    );
    expect(measured).toHaveTextContent(/^解析.*bytes.*13\.\d+ (kB|KiB)/);
    const [named, unread] = await rowsOf('Series that were left out');
    expect(named).toHaveTextContent("hash/16line 2its unit is 'cycles'");
    expect(unread).toHaveTextContent('–cut/newexpected JSON');
  });

  it('numbers the runs that hold one document together', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'paceline.result/1',
        runs: [ITS_RUN, { ...ITS_RUN, run_id: 'run-10', job_id: 'job-10' }],
      }));
    });
    expect(
      await screen.findByRole('link', {
        name: 'The run of branch before, part 2 of 2',
      }),
    ).toHaveAttribute('href', '/runs/run-10');
  });

  it.each([
    ['of averages can be forgotten', 'averages only', [], 1],
    ['whose samples stay in runs cannot', 'averages only', [ITS_RUN], 0],
  ])('%s', async (_, why, runs, buttons) => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        runs,
        why_no_samples: why,
        why_no_verdict: why,
      }));
    });
    expect(await screen.findByText(why)).toBeInTheDocument();
    expect(
      screen.queryAllByRole('button', { name: 'Delete import' }),
    ).toHaveLength(buttons);
  });

  it('states a policy that is held against what was measured, and not against averages', async () => {
    renderApp('/imports/import-1');
    const [measured, imported] = await rowsOf('The policy against advice');
    expect(
      screen.getByText(
        /native from 2,000 fingerprints on, after 1 warm-up round/,
      ),
    ).toBeInTheDocument();
    expect(measured).toHaveTextContent(
      /policy is wrong here.*native wins from 640 fingerprints/,
    );
    await waitFor(() =>
      expect(measured).toHaveTextContent(/sim-healthy simulated/),
    );
    expect(imported).toHaveTextContent(
      /not known yet.*insufficient: no samples of this device/,
    );
  });

  it('is forgotten when a person says so, and the list says what is left', async () => {
    const { user, router } = renderApp('/imports');
    const [row] = await rowsOf('Imports');
    expect(row).toHaveTextContent(
      /LightLedger, October.*Xiaomi 13T Pro \(API 35\).*2.*Ada/,
    );
    await user.click(
      screen.getByRole('link', { name: 'LightLedger, October' }),
    );
    await user.click(
      await screen.findByRole('button', { name: 'Delete import' }),
    );
    await user.click(await screen.findByRole('button', { name: 'Cancel' }));
    expect(router.state.location.pathname).toBe('/imports/import-1');
    await user.click(screen.getByRole('button', { name: 'Delete import' }));
    await user.click(await screen.findByRole('button', { name: 'Delete' }));
    expect(await screen.findByText('No imports')).toBeInTheDocument();
    expect(router.state.location.pathname).toBe('/imports');
    // The command is complete: it has the server's address and a token.
    const command = `paceline import FILE --server ${window.location.origin}`;
    expect(screen.getByText(command)).toBeInTheDocument();
    expect(screen.getByText(/permission imports.write/)).toBeInTheDocument();
  });
});

const fileOf = (name: string, content = '{}') => new File([content], name);
const input = async () =>
  screen.findByLabelText<HTMLInputElement>(/Drop files here/);

describe('files of other tools', () => {
  it('are recognised, completed, and stored only when a person says so', async () => {
    const { user, backend } = renderApp('/imports', (fake) => {
      fake.suites.push(importedSuite);
    });
    await user.upload(await input(), fileOf('bench.json'));
    const card = within(
      await screen.findByRole('article', { name: 'bench.json' }),
    );
    expect(await card.findByText('google-benchmark 1.9.5')).toBeInTheDocument();
    expect(screen.getByText('AMD EPYC')).toBeInTheDocument();
    expect(
      screen.getByText('bench.json: google-benchmark 1.9.5, 1 case'),
    ).toBeInTheDocument();
    const [left] = await rowsOf('Left out of bench.json');
    expect(left).toHaveTextContent(/BM_fails.*no such file/);
    expect(await rowsOf('Series of bench.json')).toHaveLength(2);
    expect(backend.fleet.stored).toEqual([]);
    // The file says its time itself.
    expect(screen.queryByLabelText(/Measured, else/)).not.toBeInTheDocument();
    const commit = screen.getByLabelText('Commit');
    await user.type(commit, 'HEAD');
    expect(
      screen.getByRole('button', { name: 'Import 1 file' }),
    ).toBeDisabled();
    await user.clear(commit);
    await user.type(commit, '1f3c9ab');
    await user.type(screen.getByLabelText('Target that measured'), 'ci-7');
    const suites = screen.getByRole('combobox', { name: 'Suite' });
    expect(
      within(suites)
        .getAllByRole('option')
        .map(({ textContent }) => textContent),
    ).toEqual(['named like the tool', 'Hashing']);
    await user.selectOptions(suites, 'hashing');
    await user.click(screen.getByRole('checkbox', { name: /^Judge/ }));
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    expect(await card.findByRole('link', { name: '2 series' })).toHaveAttribute(
      'href',
      '/imports/import-2',
    );
    expect(backend.fleet.stored).toEqual([
      {
        file: 'bench.json',
        on: 'ci-7',
        suite: 'hashing',
        judge: 'true',
        commit: '1f3c9ab',
      },
    ]);
    await waitFor(async () => expect(await rowsOf('Imports')).toHaveLength(2));

    await user.upload(await input(), fileOf('bench.json'));
    await user.click(
      await screen.findByRole('button', { name: 'Import 1 file' }),
    );
    expect(
      await screen.findByRole('link', {
        name: 'Imported before, nothing changed',
      }),
    ).toBeInTheDocument();
  });

  it('say why they cannot be imported, and do not hold up the others', async () => {
    const { user } = renderApp('/imports');
    const long = fileOf('long.json');
    Object.defineProperty(long, 'size', { value: 9 * 2 ** 20 });
    await user.upload(await input(), [
      fileOf('notes.txt', NONSENSE),
      long,
      fileOf('bench.json'),
    ]);
    const [refused, tooLong, read] = await screen.findAllByRole('article');
    expect(
      await within(refused!).findByText('No reader can read it.'),
    ).toBeInTheDocument();
    // The likeliest reasons are in sight, in the server's order; the others are not.
    expect(
      Array.from(refused!.querySelectorAll('dt'), (term) => term.textContent),
    ).toEqual(['pytest-benchmark', 'hyperfine', 'asv', 'catch2', 'go']);
    expect(within(refused!).getByText('hyperfine')).toBeVisible();
    const hidden = within(refused!).getByText('catch2');
    expect(hidden).not.toBeVisible();
    await user.click(within(refused!).getByText('2 other reasons'));
    expect(hidden).toBeVisible();
    expect(tooLong).toHaveTextContent(/at most 8\.00 MiB are read/);
    await within(read!).findByText('google-benchmark 1.9.5');
    await user.type(screen.getByLabelText('Target that measured'), 'refused');
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    expect(
      await within(read!).findByText('You may not import.'),
    ).toBeInTheDocument();
    await user.click(
      screen.getByRole('button', { name: 'Take long.json off the list' }),
    );
    expect(screen.getAllByRole('article')).toHaveLength(2);
    await user.click(screen.getByRole('button', { name: 'Clear list' }));
    expect(screen.queryByRole('article')).not.toBeInTheDocument();
  });

  it('are taken only from those who may import', async () => {
    renderApp('/imports', (backend) => {
      if (backend.session !== null)
        backend.session = { ...backend.session, permissions: ['project.read'] };
    });
    await rowsOf('Imports');
    expect(screen.queryByText(/Drop files here/)).not.toBeInTheDocument();
  });
});
