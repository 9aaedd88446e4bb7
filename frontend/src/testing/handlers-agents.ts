/** Handlers of the fake server for agents and the actions of admins on them. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type { EnrolledAgent, Grant, TargetClaim } from '../api/types';
import { ada, minutesAgo, NOW } from './fixtures';
import type { FakeBackend } from './fake-backend';
import { problem } from './problems';

const INSTALLATION = '*/api/v1/installation';
const notFound = () => problem(404, 'not_found', 'There is no such thing.');
const page = (items: readonly unknown[]) =>
  HttpResponse.json({ items, next: null });
const now = () => new Date(NOW).toISOString();

export function agentHandlers(backend: FakeBackend): HttpHandler[] {
  const change = (id: unknown, edit: Partial<EnrolledAgent>) => {
    const index = backend.enrolled.findIndex((agent) => agent.id === id);
    const agent = backend.enrolled[index];
    if (agent === undefined) return notFound();
    backend.enrolled[index] = { ...agent, ...edit };
    return HttpResponse.json(backend.enrolled[index]);
  };
  const decide = (id: unknown, state: TargetClaim['state']) => {
    const claim = backend.claims.find((each) => each.id === id);
    if (claim === undefined) return notFound();
    if (backend.busyTargets.includes(claim.target.id)) {
      return problem(409, 'target_busy', 'A job runs on this target.');
    }
    backend.claims = backend.claims.filter((each) => each !== claim);
    backend.decidedClaims.push({ id: claim.id, state });
    return HttpResponse.json({
      ...claim,
      state,
      decided_by: ada.name,
      decided_at: now(),
    });
  };
  return [
    http.get(`${INSTALLATION}/agents`, () => page(backend.enrolled)),
    http.get(`${INSTALLATION}/claims`, () => page(backend.claims)),
    http.put(`${INSTALLATION}/agents/:id/grant`, async ({ params, request }) =>
      change(params['id'], { grant: (await request.json()) as Grant }),
    ),
    http.put(
      `${INSTALLATION}/agents/:id/silence-limit`,
      async ({ params, request }) => {
        const { limit_s: limit } = (await request.json()) as {
          limit_s: number | null;
        };
        return change(params['id'], { silence_limit_s: limit });
      },
    ),
    http.post(`${INSTALLATION}/agents/:id/rotate`, ({ params }) =>
      change(params['id'], { rotation_requested_at: now() }),
    ),
    http.post(`${INSTALLATION}/agents/:id/revoke`, ({ params }) =>
      change(params['id'], {
        state: 'revoked',
        revoked_at: now(),
        credential_since: null,
      }),
    ),
    http.post(`${INSTALLATION}/claims/:id/move`, ({ params }) =>
      decide(params['id'], 'moved'),
    ),
    http.post(`${INSTALLATION}/claims/:id/dismiss`, ({ params }) =>
      decide(params['id'], 'dismissed'),
    ),
    http.post('*/api/v1/agents/enrolment-codes', async ({ request }) => {
      const grant = (await request.json()) as Partial<Grant>;
      if (grant.repositories?.some((pattern) => pattern.includes('..'))) {
        return problem(
          422,
          'invalid_request',
          'repositories.0: is no location of a repository',
        );
      }
      backend.enrolmentRequests.push(grant);
      return HttpResponse.json(
        { code: 'ple_once', expires_at: minutesAgo(-60) },
        { status: 201 },
      );
    }),
  ];
}
