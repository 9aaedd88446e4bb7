/** Handlers of the fake server for accounts, members, invitations, sessions and tokens, and what they refuse. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type {
  Account,
  BrowserSession,
  GrantedTarget,
  InstallationAccount,
  Invitation,
  Member,
  Permission,
  Project,
  Role,
  Session,
  Token,
} from '../api/types';
import { ada, grace, minutesAgo } from './fixtures';
import { problem } from './problems';

export interface FakePeople {
  members: Member[];
  invitations: Invitation[];
  sessions: BrowserSession[];
  tokens: Token[];
  accounts: InstallationAccount[];
  projects: Project[];
  targets: GrantedTarget[];
}

/** The part of the fake server that these handlers read and change. */
export interface PeopleBackend {
  session: Session | null;
  signedIn: boolean;
  people: FakePeople;
}

const API = '*/api/v1';
const done = () => new HttpResponse(null, { status: 204 });
const page = (items: readonly unknown[]) =>
  HttpResponse.json({ items, next: null });

function browserSession(change: Partial<BrowserSession>): BrowserSession {
  return {
    id: 'ses-1',
    method: 'password',
    device: 'Firefox on Linux',
    place: '192.0.2.7',
    created_at: minutesAgo(3000),
    last_seen_at: minutesAgo(1),
    expires_at: minutesAgo(-17_000),
    ends_at: minutesAgo(-4300),
    is_current: true,
    ...change,
  };
}

const member = (account: Account, role: Role): Member => ({
  account,
  role,
  since: minutesAgo(9000),
  disabled: false,
});

export function createPeople(): FakePeople {
  return {
    members: [member(ada, 'admin'), member(grace, 'triager')],
    invitations: [
      {
        id: 'inv-1',
        email: 'mary@example.org',
        role: 'viewer',
        state: 'open',
        invited_by: 'Ada',
        created_at: minutesAgo(60),
        expires_at: minutesAgo(-9000),
      },
    ],
    sessions: [
      browserSession({}),
      browserSession({
        id: 'ses-2',
        device: 'Chrome on Android',
        place: '198.51.100.4',
        is_current: false,
      }),
    ],
    tokens: [programToken({})],
    accounts: [
      installationAccount({ ...ada, is_installation_admin: true }),
      installationAccount({ ...grace, email: 'grace@example.org' }),
    ],
    projects: [project('default', 'Default')],
    targets: [
      { id: 'target-1', name: 'lab-host', kind: 'host', granted: true },
    ],
  };
}

function programToken(change: Partial<Token>): Token {
  return {
    id: 'tok-1',
    name: 'CI of hashing',
    prefix: 'plt_1a2b3c4d',
    permissions: ['project.read', 'runs.create', 'targets.use'],
    created_at: minutesAgo(3000),
    last_used_at: minutesAgo(4),
    expires_at: minutesAgo(-90_000),
    revoked_at: null,
    made_by: 'Ada',
    ...change,
  };
}

function installationAccount(
  change: Partial<InstallationAccount> & Account,
): InstallationAccount {
  return {
    has_password: true,
    is_installation_admin: false,
    created_at: minutesAgo(9000),
    disabled_at: null,
    ...change,
  };
}

function project(name: string, title: string): Project {
  return {
    id: `prj-${name}`,
    name,
    title,
    default_branch: 'main',
    visibility: 'private',
    retention_days: null,
    created_at: minutesAgo(9000),
  };
}

function tokenHandlers({ people }: PeopleBackend): HttpHandler[] {
  return [
    http.get(`${API}/tokens`, () => page(people.tokens)),
    http.post(`${API}/tokens`, async ({ request }) => {
      const body = (await request.json()) as {
        name: string;
        permissions: Permission[];
        expires_in_days: number | null;
      };
      const made = programToken({
        id: `tok-${people.tokens.length + 1}`,
        name: body.name,
        permissions: body.permissions,
        last_used_at: null,
        expires_at:
          body.expires_in_days === null
            ? null
            : minutesAgo(-1440 * body.expires_in_days),
      });
      people.tokens.unshift(made);
      const secret = `plt_secret_of_${made.id}`;
      return HttpResponse.json({ ...made, secret }, { status: 201 });
    }),
    http.delete(`${API}/tokens/:id`, ({ params }) => {
      const token = people.tokens.find(({ id }) => id === params['id']);
      if (token !== undefined) token.revoked_at = minutesAgo(0);
      return done();
    }),
  ];
}

function installationHandlers({ people }: PeopleBackend): HttpHandler[] {
  const find = (id: unknown) =>
    people.accounts.find((account) => account.id === id);
  return [
    http.get(`${API}/installation/accounts`, ({ request }) => {
      const q = new URL(request.url).searchParams.get('q') ?? '';
      return page(
        people.accounts.filter(({ name }) =>
          name.toLowerCase().includes(q.toLowerCase()),
        ),
      );
    }),
    http.post(`${API}/accounts/:id/disable`, ({ params }) => {
      const account = find(params['id']);
      if (account !== undefined) account.disabled_at = minutesAgo(0);
      return done();
    }),
    http.post(`${API}/accounts/:id/enable`, ({ params }) => {
      const account = find(params['id']);
      if (account !== undefined) account.disabled_at = null;
      return done();
    }),
    http.put(
      `${API}/accounts/:id/installation-admin`,
      async ({ params, request }) => {
        const account = find(params['id']);
        if (account === undefined)
          return problem(404, 'not_found', 'No account.');
        const body = (await request.json()) as {
          is_installation_admin: boolean;
        };
        account.is_installation_admin = body.is_installation_admin;
        return HttpResponse.json(account);
      },
    ),
    http.post(`${API}/accounts/:id/reset-link`, () =>
      HttpResponse.json(
        {
          url: 'https://perf.example.org/reset-password#token=pll_1',
          expires_at: minutesAgo(-30),
        },
        { status: 201 },
      ),
    ),
    http.delete(`${API}/accounts/:id/sessions`, done),
    http.get(`${API}/projects`, () => page(people.projects)),
    http.post(`${API}/projects`, async ({ request }) => {
      const body = (await request.json()) as { name: string; title: string };
      if (people.projects.some(({ name }) => name === body.name)) {
        return problem(
          409,
          'name_taken',
          `A project named '${body.name}' exists already.`,
        );
      }
      const made = project(body.name, body.title);
      people.projects.push(made);
      return HttpResponse.json(made, { status: 201 });
    }),
    http.get(`${API}/project/targets`, () => page(people.targets)),
    ...[true, false].map((granted) =>
      (granted ? http.put : http.delete)(
        `${API}/project/targets/:id`,
        ({ params }) => {
          const target = people.targets.find(({ id }) => id === params['id']);
          if (target !== undefined) target.granted = granted;
          return done();
        },
      ),
    ),
  ];
}

function memberHandlers({ people }: PeopleBackend): HttpHandler[] {
  return [
    http.get(`${API}/members`, () => page(people.members)),
    http.put(`${API}/members/:id`, async ({ params, request }) => {
      const { role } = (await request.json()) as { role: Role };
      const savedMember = people.members.find(
        ({ account }) => account.id === params['id'],
      );
      if (savedMember === undefined)
        return problem(404, 'not_found', 'No member.');
      const admins = people.members.filter((each) => each.role === 'admin');
      if (
        savedMember.role === 'admin' &&
        role !== 'admin' &&
        admins.length === 1
      ) {
        return problem(
          409,
          'last_admin',
          "This is the project's last admin: make somebody else an admin first.",
        );
      }
      savedMember.role = role;
      return HttpResponse.json(savedMember);
    }),
    http.delete(`${API}/members/:id`, ({ params }) => {
      people.members = people.members.filter(
        ({ account }) => account.id !== params['id'],
      );
      return done();
    }),
  ];
}

function invitationHandlers(backend: PeopleBackend): HttpHandler[] {
  const { people } = backend;
  return [
    http.get(`${API}/invitations`, () => page(people.invitations)),
    http.post(`${API}/invitations`, async ({ request }) => {
      const { email, role } = (await request.json()) as {
        email: string;
        role: Role;
      };
      if (people.members.some(({ account }) => account.email === email)) {
        return problem(409, 'already_member', `${email} is a member already.`);
      }
      const made: Invitation = {
        id: `inv-${people.invitations.length + 1}`,
        email,
        role,
        state: 'open',
        invited_by: 'Ada',
        created_at: minutesAgo(0),
        expires_at: minutesAgo(-10_080),
      };
      people.invitations.unshift(made);
      const url = `https://perf.example.org/invitation#token=pli_${made.id}`;
      return HttpResponse.json({ ...made, url }, { status: 201 });
    }),
    http.delete(`${API}/invitations/:id`, ({ params }) => {
      const invitation = people.invitations.find(
        ({ id }) => id === params['id'],
      );
      if (invitation !== undefined) invitation.state = 'revoked';
      return done();
    }),
    http.post(`${API}/session/invitation/offer`, async ({ request }) => {
      const { token } = (await request.json()) as { token: string };
      return token === 'good'
        ? HttpResponse.json({
            project: 'default',
            title: 'Kernel lab',
            role: 'triager',
            invited_by: 'Ada',
            expires_at: minutesAgo(-9000),
          })
        : problem(410, 'invitation_invalid', 'Ask for a new one.');
    }),
    http.post(`${API}/session/invitation`, async ({ request }) => {
      const body = (await request.json()) as {
        email: string;
        password: string;
      };
      if (body.email !== 'mary@example.org') {
        return problem(
          403,
          'other_address',
          'This invitation is for another e-mail address.',
        );
      }
      if (body.password.includes('password')) {
        return problem(
          400,
          'weak_password',
          'This password is easily guessed.',
        );
      }
      backend.signedIn = true;
      return HttpResponse.json(backend.session);
    }),
    http.post(`${API}/account/invitations`, () =>
      HttpResponse.json({ project: 'default' }),
    ),
  ];
}

function accountHandlers(backend: PeopleBackend): HttpHandler[] {
  const { people } = backend;
  return [
    http.get(`${API}/account/sessions`, () => page(people.sessions)),
    http.delete(`${API}/account/sessions`, () => {
      people.sessions = people.sessions.filter((each) => each.is_current);
      return done();
    }),
    http.delete(`${API}/account/sessions/:id`, ({ params }) => {
      people.sessions = people.sessions.filter(({ id }) => id !== params['id']);
      return done();
    }),
    http.put(`${API}/account/password`, async ({ request }) => {
      const { current } = (await request.json()) as { current: string | null };
      return current === 'right'
        ? HttpResponse.json(backend.session)
        : problem(403, 'wrong_password', 'The present password is wrong.');
    }),
    http.post(`${API}/session/reset`, async ({ request }) => {
      const { token } = (await request.json()) as { token: string };
      if (token !== 'good')
        return problem(401, 'link_invalid', 'This link was used already.');
      backend.signedIn = true;
      return HttpResponse.json(backend.session);
    }),
  ];
}

export function peopleHandlers(backend: PeopleBackend): HttpHandler[] {
  return [
    ...memberHandlers(backend),
    ...invitationHandlers(backend),
    ...accountHandlers(backend),
    ...tokenHandlers(backend),
    ...installationHandlers(backend),
  ];
}
