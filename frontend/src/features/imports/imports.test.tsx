import { screen, waitFor, within } from '@testing-library/react';

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

  it('of criterion has its runs, with outliers counted', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'criterion',
        why_no_verdict: 'One after another.',
        runs: [ITS_RUN],
      }));
    });
    const [signing] = await rowsOf('Benchmarks of baseline before');
    expect(signing).toHaveTextContent(
      /^sign\/dalek\/32sign · dalek · time message 3213\.7 µs.*1,00012 and 3/,
    );
    expect(screen.getByText('One after another.')).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'The run of baseline before' }),
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
            series: [{ ...SIGNING, summary: 'mean' }],
          },
        ],
        facts: { catch2: '3.7.1' },
        judged: true,
        replaced_by: 'import-2',
        original_bytes: 2048,
      }));
    });
    const [signing] = await rowsOf('Benchmarks of branch new');
    expect(signing).toHaveTextContent(/none, its mean/);
    expect(screen.getByText('3.7.1')).toBeInTheDocument();
    expect(screen.getByText('judged, and nobody is told')).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'the import of a corrected file' }),
    ).toHaveAttribute('href', '/imports/import-2');
    expect(
      screen.getByRole('link', { name: 'light-ledger.txt' }),
    ).toHaveAttribute('href', '/api/v1/imports/import-1/original');
  });

  it('names what was left out, other units, and the commit of the last run', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'criterion',
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
      `Benchmarks of last run at ${'b'.repeat(12)}`,
    );
    expect(measured).toHaveTextContent(/^解析.*bytes.*13\.\d+ (kB|KiB)/);
    const [named, unread] = await rowsOf('Series that were left out');
    expect(named).toHaveTextContent("hash/16line 2its unit is 'cycles'");
    expect(unread).toHaveTextContent('–cut/newexpected JSON');
  });

  it('numbers the runs that hold one baseline together', async () => {
    renderApp('/imports/import-1', (backend) => {
      backend.fleet.imports = backend.fleet.imports.map((document) => ({
        ...document,
        format: 'criterion',
        runs: [ITS_RUN, { ...ITS_RUN, run_id: 'run-10', job_id: 'job-10' }],
      }));
    });
    expect(
      await screen.findByRole('link', {
        name: 'The run of baseline before, part 2 of 2',
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
