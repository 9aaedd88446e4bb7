import { act, screen, waitFor, within } from '@testing-library/react';

import type { LiveEvent } from '../../api/types';
import { renderApp } from '../../testing/render-app';
import { samples } from '../../testing/fake-backend';

const AT = '2026-01-10T12:00:00Z';

function event(
  id: number,
  kind: LiveEvent['kind'],
  data: Record<string, unknown>,
  job: string | null = 'job-live',
) {
  return {
    id,
    kind,
    at: AT,
    run_id: 'run-live-1',
    job_id: job,
    data,
  } satisfies LiveEvent;
}

async function open(
  address = '/runs/run-live-1',
  prepare?: Parameters<typeof renderApp>[1],
) {
  const app = renderApp(address, prepare);
  await screen.findByRole('progressbar');
  await waitFor(() => expect(app.stream.current).toBeDefined());
  await act(async () => app.stream.current?.ready(100));
  return app;
}

describe('a live run', () => {
  it('listens to its own run only and says that it is live', async () => {
    const { stream } = await open();
    expect(stream.current?.url.searchParams.get('run')).toBe('run-live-1');
    expect(await screen.findByText('live')).toBeInTheDocument();
  });

  it('moves its progress with the events', async () => {
    const { stream } = await open();
    await act(async () => {
      stream.current?.send(
        event(101, 'progress', {
          launch: 3,
          launches: 5,
          done: 80,
          total: 100,
        }),
      );
    });
    expect(
      await screen.findByText(/Launch 4 of 5, step 80 of 100/),
    ).toBeInTheDocument();
    expect(screen.getByRole('progressbar')).toHaveAttribute(
      'aria-valuenow',
      '76',
    );
  });

  it('takes samples from the rows whenever an event hints at new ones', async () => {
    const { stream, backend } = await open();
    await screen.findAllByText('160');
    backend.series.set('job-live', samples(975));
    await act(async () =>
      stream.current?.send(event(101, 'samples', { n: 3 })),
    );
    expect((await screen.findAllByText('975')).length).toBe(8);
  });

  it('adds new log lines after those it holds', async () => {
    const { stream, backend } = await open();
    const log = await screen.findByRole('log');
    await within(log).findByText(/\(59\)/);
    backend.logs
      .get('job-live')
      ?.push({ seq: 60, stream: 'agent', text: 'uploading the rest' });
    await act(async () =>
      stream.current?.send(
        event(101, 'log', { stream: 'agent', lines: ['…'] }),
      ),
    );
    expect(
      await within(log).findByText(/uploading the rest/),
    ).toBeInTheDocument();
    expect(within(log).getAllByText(/\(59\)/)).toHaveLength(1);
  });

  it('resumes after a lost connection without missing or repeating an event', async () => {
    const { stream } = await open();
    await act(async () => {
      stream.current?.send(
        event(120, 'progress', {
          launch: 2,
          launches: 5,
          done: 50,
          total: 100,
        }),
      );
      stream.current?.drop();
    });
    await waitFor(() => expect(stream.connections).toHaveLength(2));
    expect(stream.current?.url.searchParams.get('last_event_id')).toBe('120');
    await act(async () => {
      stream.current?.ready(120);
      stream.current?.send(
        event(120, 'progress', { launch: 0, launches: 5, done: 1, total: 100 }),
      );
      stream.current?.send(
        event(121, 'progress', {
          launch: 2,
          launches: 5,
          done: 55,
          total: 100,
        }),
      );
    });
    expect(await screen.findByText(/step 55 of 100/)).toBeInTheDocument();
  });

  it('reads everything again when the server says that events are gone', async () => {
    const { stream, backend } = await open();
    backend.series.set('job-live', samples(4321));
    await act(async () => stream.current?.reset());
    expect((await screen.findAllByText('4,321')).length).toBe(8);
  });

  it('is whole again after a reload in the middle of the run', async () => {
    const first = await open();
    first.unmount();
    await open();
    expect(
      screen.getByText(/Launch 2 of 5, step 34 of 100/),
    ).toBeInTheDocument();
    expect((await screen.findAllByText('160')).length).toBe(8);
    expect(
      await screen.findByText(/CPU frequency/, { selector: 'div' }),
    ).toBeInTheDocument();
  });

  it('never goes back to an earlier attempt', async () => {
    const { stream, backend } = await open();
    const job = backend.runs[0]?.jobs[0];
    await act(async () => {
      stream.current?.send(
        event(101, 'job', { ...job, attempt: 2, state: 'preparing' }),
      );
      stream.current?.send(
        event(102, 'job', { ...job, attempt: 1, state: 'lost' }),
      );
    });
    expect(await screen.findByText(/attempt 2/)).toBeInTheDocument();
    expect(screen.queryByText('lost')).not.toBeInTheDocument();
  });

  it('shows the verdicts when the run ends and stops listening', async () => {
    const { stream, backend } = await open();
    const run = backend.runs[0];
    const job = run?.jobs[0];
    if (run === undefined || job === undefined) throw new Error('no run');
    const jobs = [{ ...job, state: 'done' as const, verdict: 'pass' as const }];
    backend.runs[0] = { ...run, state: 'done', verdict: 'pass', jobs };
    await act(async () =>
      stream.current?.send(
        event(130, 'run', { state: 'done', verdict: 'pass' }, null),
      ),
    );
    expect(
      await screen.findByRole('heading', { name: 'Verdicts' }),
    ).toBeInTheDocument();
    expect(
      await screen.findByText(
        'native is 25.8 % faster than fallback at batch 1,000',
      ),
    ).toBeInTheDocument();
    await waitFor(() => expect(stream.current).toBeUndefined());
  });

  it('can be cancelled', async () => {
    const { user } = await open();
    await user.click(screen.getByRole('button', { name: 'Cancel run' }));
    expect((await screen.findAllByText('cancelled'))[0]).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Cancel run' }),
    ).not.toBeInTheDocument();
  });
});

describe('a run that failed', () => {
  it('names the cause, where it stood, and what to do', async () => {
    renderApp('/runs/run-failed-1');
    expect(await screen.findByText('The workload crashed')).toBeInTheDocument();
    expect(screen.getByText('ledger, launch 2: SIGSEGV')).toBeInTheDocument();
    expect(
      screen.getByText(/Run the workload by hand on the target/),
    ).toBeInTheDocument();
    expect(screen.getByText('measuring: failed')).toBeInTheDocument();
    expect(screen.getByText('partial')).toBeInTheDocument();
  });
});

describe('a demonstration run', () => {
  it('says so in the list and on its page', async () => {
    const { unmount } = renderApp('/runs');
    expect(
      (await screen.findAllByText('demonstration')).length,
    ).toBeGreaterThan(0);
    unmount();
    renderApp('/runs/run-demo-1');
    expect(
      await screen.findByText(/Its figures say nothing about the code/),
    ).toBeInTheDocument();
    expect(screen.getByText('native_slowdown_percent 60')).toBeInTheDocument();
  });
});

describe('a run whose job waits', () => {
  it('says what for, since when, what would change that, and leads to the run that is in the way', async () => {
    renderApp('/runs/run-live-1', (backend) => {
      const run = backend.runs[0];
      const job = run?.jobs[0];
      if (run === undefined || job === undefined) return;
      const waiting_reason = {
        text: 'lab-1 runs job job_7 of hashing',
        advice: 'It starts when that ends.',
        since: AT,
        run_id: 'run-7',
      };
      const jobs = [
        { ...job, state: 'queued' as const, progress: null, waiting_reason },
      ];
      backend.runs[0] = { ...run, jobs };
    });
    expect(
      await screen.findByText('lab-1 runs job job_7 of hashing'),
    ).toBeInTheDocument();
    expect(
      screen.getByText(/Since .* It starts when that ends\./),
    ).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'That run' })).toHaveAttribute(
      'href',
      '/runs/run-7',
    );
  });
});

describe('a run with several targets', () => {
  it('keeps the chosen one in the address', async () => {
    const { user, router } = renderApp('/runs/run-live-1', (backend) => {
      const run = backend.runs[0];
      const job = run?.jobs[0];
      if (run === undefined || job === undefined) return;
      backend.runs[0] = {
        ...run,
        jobs: [job, { ...job, id: 'job-phone', target_name: 'pixel-8' }],
      };
    });
    await user.selectOptions(
      await screen.findByRole('combobox', { name: 'Target' }),
      'job-phone',
    );
    expect(
      await screen.findByRole('heading', { name: 'Job on pixel-8' }),
    ).toBeInTheDocument();
    expect(router.state.location.search).toEqual({ job: 'job-phone' });
  });
});
