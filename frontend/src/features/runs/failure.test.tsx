/** Tests the page of a failed run: its first error, and the whole log opened, searched and downloaded. */
import { screen, within } from '@testing-library/react';

import { logFileUrl } from '../../api/job-log';
import { selectProject } from '../../api/project';
import type { Failure } from '../../api/types';
import { withoutAnsi } from '../../lib/ansi';
import { failedRun, job, run } from '../../testing/fixtures';
import { renderApp } from '../../testing/render-app';

const FAILURE: Failure = {
  title: 'The build failed',
  sentence: 'Build step `make` exited with status 2.',
  excerpt: [
    { text: 'main.c: In function main:', is_error: false },
    {
      text: 'main.c:1:25: \u001B[1;31merror:\u001B[0m missing undeclared',
      is_error: true,
    },
    { text: '\t1 | return missing;', is_error: false },
  ],
  is_recognised: true,
  advice: 'Run it by hand in the same revision.',
};

const LINES = [
  'make: Entering directory',
  'main.c:1:25: \u001B[1;31merror:\u001B[0m missing undeclared',
  '\tone Error more',
  ...Array.from({ length: 500 }, (_, at) => `line ${at}`),
  'make: *** Error 1',
];

function open(failure: Failure | null = FAILURE, lines = LINES) {
  return renderApp('/runs/run-failed-1', (backend) => {
    const failed = job({
      ...failedRun.jobs[0],
      cause: 'build_failed',
      cause_detail: 'x',
      failure,
    });
    backend.runs = [
      run({
        ...failedRun,
        reason: 'lab-host: Build step `make` exited with status 2.',
        jobs: [failed],
      }),
    ];
    backend.logs.set(
      'job-failed',
      lines.map((text, seq) => ({ seq, stream: 'build', text })),
    );
  });
}

describe('the first error of a failed job', () => {
  it('stands once, with the lines around it and without escapes', async () => {
    open();
    const excerpt = await screen.findByRole('region', {
      name: 'The first error',
    });
    expect(
      within(excerpt).getByText('main.c:1:25: error: missing undeclared')
        .tagName,
    ).toBe('STRONG');
    expect(excerpt).toHaveTextContent('main.c: In function main:');
    const alert = screen.getByRole('alert');
    expect(within(alert).getByText('The build failed')).toBeInTheDocument();
    expect(within(alert).getByText(FAILURE.sentence)).toBeInTheDocument();
    expect(within(alert).getByText(FAILURE.advice)).toBeInTheDocument();
    expect(document.body.textContent).not.toContain('\u001B');
  });

  it('says so where no known error stands in the output', async () => {
    open({
      ...FAILURE,
      is_recognised: false,
      excerpt: [{ text: 'step 5', is_error: false }],
    });
    const excerpt = await screen.findByRole('region', {
      name: 'The end of the output',
    });
    expect(excerpt).toHaveTextContent('step 5');
    expect(
      screen.getByText(/The output has no known error/),
    ).toBeInTheDocument();
  });

  it('is not made up for a job whose agent only names a cause', async () => {
    open({
      title: 'The agent stopped answering',
      sentence: 'The agent is gone.',
      excerpt: [],
      is_recognised: false,
      advice: 'Check the host.',
    });
    expect(await screen.findByText('The agent is gone.')).toBeInTheDocument();
    expect(screen.getByText('Check the host.')).toBeInTheDocument();
    expect(
      screen.queryByRole('button', { name: 'Show in log' }),
    ).not.toBeInTheDocument();
  });
});

describe('the whole log', () => {
  it('is searched by keyboard alone: marked, next, previous, around the end', async () => {
    const { user } = open();
    await user.click(
      await screen.findByRole('button', { name: 'Open full log' }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    expect(await dialog.findByText('504 lines')).toBeInTheDocument();
    const field = dialog.getByRole('textbox', { name: 'Search in the log' });
    expect(field).toHaveFocus();
    await user.keyboard('error');
    expect(await dialog.findByText('Match 1 of 3')).toBeInTheDocument();
    const marks = () =>
      dialog.getAllByText('error', { selector: 'mark', exact: false });
    expect(marks()).toHaveLength(3);
    const current = () =>
      marks().findIndex((mark) => mark.getAttribute('aria-current') === 'true');
    expect(current()).toBe(0);
    await user.keyboard('{Enter}');
    expect(dialog.getByText('Match 2 of 3')).toBeInTheDocument();
    expect(current()).toBe(1);
    await user.keyboard('{Shift>}{Enter}{Enter}{/Shift}');
    expect(dialog.getByText('Match 3 of 3')).toBeInTheDocument();
    await user.click(dialog.getByRole('button', { name: 'Next' }));
    expect(dialog.getByText('Match 1 of 3')).toBeInTheDocument();
    await user.clear(field);
    await user.type(field, 'nothing of the kind');
    expect(await dialog.findByText('No match')).toBeInTheDocument();
    expect(dialog.getByRole('button', { name: 'Next' })).toBeDisabled();
  });

  it('is the text as it was printed, without escapes, and closes with Escape', async () => {
    const { user } = open();
    await user.click(
      await screen.findByRole('button', { name: 'Open full log' }),
    );
    const text = await screen.findByRole('region', { name: 'Full log' });
    expect(text.textContent).toBe(`${LINES.map(withoutAnsi).join('\n')}\n`);
    expect(text).toHaveAttribute('tabindex', '0');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  });

  it('opens at the first error from beside it', async () => {
    const { user } = open();
    await user.click(
      await screen.findByRole('button', { name: 'Show in log' }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    expect(await dialog.findByText('Match 1 of 1')).toBeInTheDocument();
    expect(
      dialog.getByText('main.c:1:25: error: missing undeclared', {
        selector: 'mark',
      }),
    ).toHaveAttribute('aria-current', 'true');
  });

  it('is downloaded as the file the server makes of it', async () => {
    open();
    const link = await screen.findByRole('link', { name: 'Download' });
    expect(link).toHaveAttribute(
      'href',
      '/api/v1/jobs/job-failed/log?format=text&attempt=1',
    );
    expect(link).toHaveAttribute('download');
  });

  it('is downloaded from the project that the page shows', () => {
    selectProject('other');
    try {
      expect(logFileUrl('job-failed', 1)).toBe(
        '/api/v1/jobs/job-failed/log?format=text&attempt=1&project=other',
      );
    } finally {
      selectProject(undefined);
    }
  });

  it('says that there is none', async () => {
    const { user } = open(FAILURE, []);
    await user.click(
      await screen.findByRole('button', { name: 'Open full log' }),
    );
    expect(
      await within(await screen.findByRole('dialog')).findByText(
        'The log is empty',
      ),
    ).toBeInTheDocument();
  });
});
