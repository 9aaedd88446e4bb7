import { screen, waitFor, within } from '@testing-library/react';

import { seriesPage } from '../testing/fixtures-history';
import { renderApp } from '../testing/render-app';
import type { FakeBackend } from '../testing/fake-backend';

interface PageCase {
  address: string;
  heading: RegExp;
  /** The request whose failure the page must explain. */
  path: RegExp;
  full: RegExp;
  empty: (backend: FakeBackend) => void;
  advice: RegExp;
}

const PAGES: Record<string, PageCase> = {
  overview: {
    address: '/',
    heading: /^Overview$/,
    path: /\/overview$/,
    full: /Confirmed\. Nobody has taken it yet/,
    empty: (backend) => {
      backend.runs = [];
      backend.agents = [];
    },
    advice: /Make a one-time code on the server/,
  },
  runs: {
    address: '/runs',
    heading: /^Runs$/,
    path: /\/runs$/,
    full: /^live-1$/,
    empty: (backend) => (backend.runs = []),
    advice: /Choose a suite and watch its samples arrive/,
  },
  'a new run': {
    address: '/runs/new',
    heading: /^Run a suite$/,
    path: /\/suites$/,
    full: /Start run/,
    empty: (backend) => (backend.suites = []),
    advice: /Enrol an agent and list a repository/,
  },
  'a run': {
    address: '/runs/run-live-1',
    heading: /hashing run/,
    path: /\/runs\/run-live-1$/,
    full: /^Live samples$/,
    empty: (backend) => {
      backend.series.clear();
      backend.logs.clear();
      backend.conditions.clear();
    },
    advice: /They appear here as soon as the first launch measures/,
  },
  'all arms': {
    address: '/arms',
    heading: /^Arms$/,
    path: /\/arms\/standings$/,
    full: /batch=1000: 18 % slower/,
    empty: (backend) =>
      (backend.history.standings = {
        ...backend.history.standings,
        rows: [],
        targets: [],
      }),
    advice: /names the arm that should beat its reference/,
  },
  arms: {
    address: '/arms?suite=hashing',
    heading: /^Arms$/,
    path: /\/arms$/,
    full: /native beats fallback at all 4 batch sizes/,
    empty: (backend) => (backend.comparisons = []),
    advice: /A run of a few minutes gives a first verdict/,
  },
  alerts: {
    address: '/alerts',
    heading: /^Alerts$/,
    path: /\/alerts$/,
    full: /native slower than fallback in ledger_batch on lab-host/,
    empty: (backend) => backend.alerts.clear(),
    advice: /run a suite with a demonstration knob/,
  },
  'an alert': {
    address: '/alerts/alert-1',
    heading: /native slower than fallback/,
    path: /\/alerts\/alert-1$/,
    full: /in all five launches/,
    empty: (backend) => {
      const alert = backend.alerts.get('alert-1');
      if (alert !== undefined)
        backend.alerts.set('alert-1', { ...alert, findings: [], history: [] });
    },
    advice: /The evidence appears with the first finding/,
  },
  series: {
    address: '/series',
    heading: /^Series$/,
    path: /\/series$/,
    full: /ledger_batch · native · time/,
    empty: (backend) => (backend.history.series = []),
    advice: /changes are looked for from twelve points on/,
  },
  'a series': {
    address: '/series/series-1',
    heading: /^ledger_batch native time$/,
    path: /\/series\/series-1$/,
    full: /14\.2 % slower: 1\.2 ms → 1\.37 ms/,
    empty: (backend) =>
      (backend.history.page = seriesPage({ changes: [], evaluated_at: null })),
    advice: /Detection looks at a series whenever a run adds a point/,
  },
  'the matrix': {
    address: '/matrix',
    heading: /^Matrix$/,
    path: /\/matrix$/,
    full: /native time, batch=1000/,
    empty: (backend) =>
      (backend.history.matrix = {
        ...backend.history.matrix,
        rows: [],
        targets: [],
      }),
    advice: /adds a column for each of its targets/,
  },
  'two revisions': {
    address: '/compare?base=a1b2c3d4&head=b1b2c3d4',
    heading: /^Compare$/,
    path: /\/compare$/,
    full: /lab-host: kernel 6\.1\.0-12 → 6\.1\.0-13/,
    empty: (backend) =>
      (backend.history.compare = { ...backend.history.compare, rows: [] }),
    advice: /Widen the filters, or wait for the jobs to end/,
  },
  targets: {
    address: '/targets',
    heading: /^Targets$/,
    path: /\/targets$/,
    full: /battery at 41 °C/,
    empty: (backend) => (backend.targets = []),
    advice: /Make a one-time code on the server/,
  },
  agents: {
    address: '/agents',
    heading: /^Agents$/,
    path: /\/installation\/agents$/,
    full: /enrolled by Ada/,
    empty: (backend) => (backend.enrolled = []),
    advice: /Create a code below and run its command on the first host/,
  },
  'a target': {
    address: '/targets/target-1',
    heading: /^lab-host$/,
    path: /\/targets\/target-1$/,
    full: /Switch boost off in the firmware/,
    empty: (backend) => {
      backend.targets = backend.targets.map((target) =>
        Object.assign({}, target, { preflight: [] }),
      );
    },
    advice: /The target is ready to measure/,
  },
  rules: {
    address: '/rules',
    heading: /^Rules$/,
    path: /\/rules$/,
    full: /^hashing-native$/,
    empty: (backend) => (backend.decisions.rules = []),
    advice: /It can be replayed on past data before it is saved/,
  },
  'a rule': {
    address: '/rules/rule-1',
    heading: /^hashing-native$/,
    path: /\/rules\/rule-1$/,
    full: /^Definition$/,
    empty: (backend) => {
      backend.decisions.rules = backend.decisions.rules.map((rule) =>
        Object.assign({}, rule, { floor: null }),
      );
    },
    advice: /No A\/A run has measured/,
  },
  channels: {
    address: '/channels',
    heading: /^Channels$/,
    path: /\/channels$/,
    full: /^nightly$/,
    empty: (backend) => (backend.channels.channels = []),
    advice: /Make a channel below/,
  },
  'a channel': {
    address: '/channels/chn-1',
    heading: /^team$/,
    path: /\/channels\/chn-1$/,
    full: /Europe|single messages/,
    empty: (backend) => (backend.channels.deliveries = []),
    advice: /Send a test to see that messages arrive/,
  },
  policies: {
    address: '/policies',
    heading: /^Usage policies$/,
    path: /\/policies$/,
    full: /native wins from 1,870 fingerprints \(95 %: 1,400–2,300\) after 1 warm-up round/,
    empty: (backend) => (backend.decisions.policies = []),
    advice: /A suite declares policies in its manifest/,
  },
  noise: {
    address: '/noise',
    heading: /^Noise$/,
    path: /\/noise-floors$/,
    full: /effects below 3\.1 % are not resolved here/,
    empty: (backend) => (backend.decisions.floors = []),
    advice: /a run whose base is its own commit/,
  },
  imports: {
    address: '/imports',
    heading: /^Imports$/,
    path: /\/imports$/,
    full: /^LightLedger, October$/,
    empty: (backend) => (backend.fleet.imports = []),
    advice: /Import the output of another tool from the command line/,
  },
  'the audit log': {
    address: '/audit',
    heading: /^Audit log$/,
    path: /\/audit$/,
    full: /Ada saved version 2 of the rule hashing-native/,
    empty: (backend) => (backend.decisions.audit = []),
    advice: /targets and tokens appear here/,
  },
  members: {
    address: '/members',
    heading: /^Members$/,
    path: /\/members$/,
    full: /^ada@example\.org$/,
    empty: (backend) => (backend.people.members = []),
    advice: /They choose their own password/,
  },
  tokens: {
    address: '/tokens',
    heading: /^Tokens$/,
    path: /\/tokens$/,
    full: /^CI of hashing$/,
    empty: (backend) => (backend.people.tokens = []),
    advice: /Make one for a program that starts runs/,
  },
  'the installation': {
    address: '/installation',
    heading: /^Installation$/,
    path: /\/installation\/accounts$/,
    full: /^grace@example\.org$/,
    empty: (backend) => (backend.people.accounts = []),
    advice: /Invite people on the page Members/,
  },
  'my account': {
    address: '/account',
    heading: /^My account$/,
    path: /\/account\/sessions$/,
    full: /Chrome on Android/,
    empty: (backend) => (backend.people.sessions = []),
    advice: /The first page has this one/,
  },
};

const CASES = Object.entries(PAGES);

describe.each(CASES)('the page of %s', (_name, page) => {
  it('shows what there is', async () => {
    renderApp(page.address);
    expect((await screen.findAllByText(page.full))[0]).toBeInTheDocument();
    expect(
      screen.getByRole('heading', { level: 1, name: page.heading }),
    ).toBeInTheDocument();
  });

  it('says what to do when there is nothing', async () => {
    renderApp(page.address, page.empty);
    expect((await screen.findAllByText(page.advice))[0]).toBeInTheDocument();
  });

  it('shows that it is loading', async () => {
    renderApp(page.address);
    expect(
      (await screen.findAllByRole('status', { name: /^Loading/ }))[0],
    ).toBeInTheDocument();
  });

  it('explains a failure and recovers when asked to try again', async () => {
    const { backend, user } = renderApp(page.address, (initial) => {
      initial.failure = {
        status: 503,
        code: 'unavailable',
        detail: 'The database is away.',
        path: page.path,
      };
    });
    expect(
      (await screen.findAllByText(/The database is away/))[0],
    ).toBeInTheDocument();
    expect(screen.getAllByText('unavailable')[0]).toBeInTheDocument();
    backend.failure = null;
    await user.click(
      screen.getAllByRole('button', { name: 'Try again' })[0] as HTMLElement,
    );
    expect((await screen.findAllByText(page.full))[0]).toBeInTheDocument();
  });

  it('says that permission is missing instead of failing', async () => {
    renderApp(page.address, (backend) => {
      backend.failure = {
        status: 403,
        code: 'forbidden',
        detail: 'Not for you.',
        path: page.path,
      };
    });
    expect(
      (await screen.findAllByText(/^No access to/))[0],
    ).toBeInTheDocument();
    expect(screen.getAllByText(/Ask an administrator/)[0]).toBeInTheDocument();
  });
});

describe('the application', () => {
  it('groups its pages by what a person comes for, with counts where something waits', async () => {
    renderApp('/targets', (backend) => {
      backend.runs = backend.runs.map((run) =>
        Object.assign({}, run, { state: 'queued' }),
      );
    });
    const watch = await screen.findByRole('region', { name: 'Watch' });
    expect(
      within(watch)
        .getAllByRole('link')
        .map(({ textContent }) => textContent),
    ).toEqual(['Overview', 'Alerts', 'Series', 'Matrix', 'Compare']);
    const measure = screen.getByRole('region', { name: 'Measure' });
    expect(await within(measure).findByTitle(/^\d+ queued$/)).toHaveTextContent(
      /^\d+ queued$/,
    );
    expect(within(watch).getByTitle(/^\d+ open$/)).toBeInTheDocument();
  });

  it('offers no group of which a person may see nothing', async () => {
    renderApp('/targets', (backend) => {
      if (backend.session !== null) backend.session.permissions = [];
    });
    await screen.findByRole('region', { name: 'Data' });
    expect(screen.queryByRole('region', { name: 'Manage' })).toBeNull();
  });

  it('sends a visitor without a session to sign in and remembers where they wanted to go', async () => {
    const { router } = renderApp(
      '/alerts?state=open',
      (backend) => (backend.signedIn = false),
    );
    expect(
      await screen.findByRole('heading', { name: 'Sign in to Paceline' }),
    ).toBeInTheDocument();
    expect(router.state.location.search).toEqual({
      next: '/alerts?state=open',
    });
  });

  it('sends to sign-in when the session ends under a page', async () => {
    const { backend, router, user } = renderApp('/runs');
    await screen.findAllByText(/^live-1$/);
    backend.signedIn = false;
    await user.click(screen.getByRole('link', { name: 'Alerts' }));
    await waitFor(() =>
      expect(router.state.location.pathname).toBe('/sign-in'),
    );
  });

  it('says what happened when the server cannot be reached at all', async () => {
    renderApp('/', (backend) => {
      backend.failure = {
        status: 500,
        code: 'internal',
        detail: 'Something broke.',
      };
    });
    expect(await screen.findByText('Something broke.')).toBeInTheDocument();
  });

  it('offers a way on where there is no page', async () => {
    renderApp('/nowhere');
    expect(await screen.findByText('Page not found')).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'Go to the overview' }),
    ).toHaveAttribute('href', '/');
  });

  it('lets a keyboard skip to the content first', async () => {
    const { user } = renderApp('/targets');
    await screen.findByRole('heading', { level: 1, name: 'Targets' });
    await user.tab();
    expect(screen.getByRole('link', { name: 'Skip to content' })).toHaveFocus();
  });

  it('names the page in the document title', async () => {
    renderApp('/alerts/alert-1');
    await screen.findByRole('heading', { level: 1, name: /native slower/ });
    expect(document.title).toBe(
      'native slower than fallback in ledger_batch on lab-host · Paceline',
    );
  });
});
