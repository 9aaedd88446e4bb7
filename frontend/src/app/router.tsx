/**
 * Declares the routes of the dashboard: address, search values and page. Each route is a chunk of its own.
 * Routes below `app` need a session; without one, the visitor is sent to sign in and returns afterwards.
 */
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
  Outlet,
  type RouterHistory,
} from '@tanstack/react-router';

import { isApiError } from '../api/errors';
import { selectProject } from '../api/project';
import { sessionQuery } from '../api/session';
import { parseSignInSearch } from '../features/session/sign-in-search';
import { parseAccountSearch } from '../features/account/account-search';
import { parseAgentsSearch } from '../features/agents/agents-search';
import { parseAlertsSearch } from '../features/alerts/alerts-search';
import { parseArmsSearch } from '../features/arms/arms-search';
import { parseAuditSearch } from '../features/audit/audit-search';
import { parseChannelsSearch } from '../features/channels/channels-search';
import { parseImportsSearch } from '../features/imports/imports-search';
import { parseInstallationSearch } from '../features/installation/installation-search';
import { parseMembersSearch } from '../features/members/members-search';
import { parseNoiseSearch } from '../features/noise/noise-search';
import { parseOverviewSearch } from '../features/overview/overview-search';
import { parsePoliciesSearch } from '../features/policies/policies-search';
import {
  parseNewRuleSearch,
  parseRulesSearch,
} from '../features/rules/rules-search';
import { parseCompareSearch } from '../features/compare/compare-search';
import { parseMatrixSearch } from '../features/matrix/matrix-search';
import {
  parseNewRunSearch,
  parseRunSearch,
  parseRunsSearch,
} from '../features/runs/runs-search';
import {
  parseSeriesListSearch,
  parseSeriesSearch,
} from '../features/series/series-search';
import {
  parseTargetSearch,
  parseTargetsSearch,
} from '../features/targets/targets-search';
import { parseProjectSearch } from './project-search';
import { parseTokensSearch } from '../features/tokens/tokens-search';
import { NotFound, RouteError, RoutePending } from './fallbacks';

interface RouterContext {
  queryClient: QueryClient;
}

/** The project stays in the address from page to page. */
const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  validateSearch: parseProjectSearch,
  search: { middlewares: [retainSearchParams(['project'])] },
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: parseSignInSearch,
  component: lazyRouteComponent(
    () => import('./routes/sign-in'),
    'SignInRoute',
  ),
});

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyRouteComponent(
    () => import('./routes/links'),
    'InvitationRoute',
  ),
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyRouteComponent(
    () => import('./routes/links'),
    'ResetPasswordRoute',
  ),
});

const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: async ({ context, location, search }) => {
    if (selectProject(search.project)) context.queryClient.clear();
    try {
      const session = await context.queryClient.ensureQueryData(sessionQuery);
      const [first] = session.projects;
      if (session.project === null && first !== undefined)
        throw redirect({ to: '.', search: { project: first.name } });
    } catch (error) {
      if (isApiError(error) && error.status === 401) {
        throw redirect({ to: '/sign-in', search: { next: location.href } });
      }
      throw error;
    }
  },
  component: lazyRouteComponent(() => import('./shell'), 'ProjectShell'),
});

const overviewRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  validateSearch: parseOverviewSearch,
  component: lazyRouteComponent(
    () => import('./routes/overview'),
    'OverviewRoute',
  ),
});

const runsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/runs',
  validateSearch: parseRunsSearch,
  component: lazyRouteComponent(() => import('./routes/runs'), 'RunsRoute'),
});

const newRunRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/runs/new',
  validateSearch: parseNewRunSearch,
  component: lazyRouteComponent(
    () => import('./routes/new-run'),
    'NewRunRoute',
  ),
});

const runRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/runs/$runId',
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import('./routes/run'), 'RunRoute'),
});

const armsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/arms',
  validateSearch: parseArmsSearch,
  component: lazyRouteComponent(() => import('./routes/arms'), 'ArmsRoute'),
});

const alertsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/alerts',
  validateSearch: parseAlertsSearch,
  component: lazyRouteComponent(() => import('./routes/alerts'), 'AlertsRoute'),
});

const alertRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/alerts/$alertId',
  component: lazyRouteComponent(() => import('./routes/alert'), 'AlertRoute'),
});

const targetsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/targets',
  validateSearch: parseTargetsSearch,
  component: lazyRouteComponent(
    () => import('./routes/target'),
    'TargetsRoute',
  ),
});

const targetRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/targets/$targetId',
  validateSearch: parseTargetSearch,
  component: lazyRouteComponent(() => import('./routes/target'), 'TargetRoute'),
});

const agentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents',
  validateSearch: parseAgentsSearch,
  component: lazyRouteComponent(() => import('./routes/agents'), 'AgentsRoute'),
});

const rulesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/rules',
  validateSearch: parseRulesSearch,
  component: lazyRouteComponent(() => import('./routes/rules'), 'RulesRoute'),
});

const newRuleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/rules/new',
  validateSearch: parseNewRuleSearch,
  component: lazyRouteComponent(() => import('./routes/rules'), 'NewRuleRoute'),
});

const ruleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/rules/$ruleId',
  component: lazyRouteComponent(() => import('./routes/rules'), 'RuleRoute'),
});

const channelsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels',
  validateSearch: parseChannelsSearch,
  component: lazyRouteComponent(
    () => import('./routes/channels'),
    'ChannelsRoute',
  ),
});

const channelRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels/$channelId',
  validateSearch: parseChannelsSearch,
  component: lazyRouteComponent(
    () => import('./routes/channels'),
    'ChannelRoute',
  ),
});

const seriesListRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/series',
  validateSearch: parseSeriesListSearch,
  component: lazyRouteComponent(
    () => import('./routes/series-list'),
    'SeriesListRoute',
  ),
});

const seriesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/series/$seriesId',
  validateSearch: parseSeriesSearch,
  component: lazyRouteComponent(() => import('./routes/series'), 'SeriesRoute'),
});

const matrixRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/matrix',
  validateSearch: parseMatrixSearch,
  component: lazyRouteComponent(() => import('./routes/matrix'), 'MatrixRoute'),
});

const compareRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/compare',
  validateSearch: parseCompareSearch,
  component: lazyRouteComponent(
    () => import('./routes/compare'),
    'CompareRoute',
  ),
});

const policiesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/policies',
  validateSearch: parsePoliciesSearch,
  component: lazyRouteComponent(
    () => import('./routes/policies-noise-audit'),
    'PoliciesRoute',
  ),
});

const noiseRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/noise',
  validateSearch: parseNoiseSearch,
  component: lazyRouteComponent(
    () => import('./routes/policies-noise-audit'),
    'NoiseRoute',
  ),
});

const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/audit',
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(
    () => import('./routes/policies-noise-audit'),
    'AuditRoute',
  ),
});

const importsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/imports',
  validateSearch: parseImportsSearch,
  component: lazyRouteComponent(
    () => import('./routes/imports'),
    'ImportsRoute',
  ),
});

const importRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/imports/$importId',
  component: lazyRouteComponent(
    () => import('./routes/imports'),
    'ImportRoute',
  ),
});

const membersRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/members',
  validateSearch: parseMembersSearch,
  component: lazyRouteComponent(
    () => import('./routes/people'),
    'MembersRoute',
  ),
});

const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account',
  validateSearch: parseAccountSearch,
  component: lazyRouteComponent(
    () => import('./routes/people'),
    'AccountRoute',
  ),
});

const tokensRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/tokens',
  validateSearch: parseTokensSearch,
  component: lazyRouteComponent(() => import('./routes/people'), 'TokensRoute'),
});

const installationRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/installation',
  validateSearch: parseInstallationSearch,
  component: lazyRouteComponent(
    () => import('./routes/people'),
    'InstallationRoute',
  ),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  invitationRoute,
  resetPasswordRoute,
  appRoute.addChildren([
    overviewRoute,
    runsRoute,
    newRunRoute,
    runRoute,
    armsRoute,
    alertsRoute,
    alertRoute,
    targetsRoute,
    targetRoute,
    agentsRoute,
    seriesListRoute,
    seriesRoute,
    matrixRoute,
    compareRoute,
    rulesRoute,
    newRuleRoute,
    ruleRoute,
    channelsRoute,
    channelRoute,
    policiesRoute,
    noiseRoute,
    importsRoute,
    importRoute,
    auditRoute,
    membersRoute,
    accountRoute,
    tokensRoute,
    installationRoute,
  ]),
]);

export function createAppRouter(
  queryClient: QueryClient,
  history?: RouterHistory,
) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingComponent: RoutePending,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
    ...(history === undefined ? {} : { history }),
  });
}

export type AppRouter = ReturnType<typeof createAppRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter;
  }
}
