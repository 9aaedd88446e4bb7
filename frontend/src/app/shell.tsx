/**
 * The frame around every page: skip link, header, navigation, account. Opens the sign-in page when the session ends.
 */
import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  getRouteApi,
  Link,
  Outlet,
  useLocation,
  useNavigate,
} from '@tanstack/react-router';
import { useEffect } from 'react';

import { isApiError } from '../api/errors';
import { may, sessionQuery, signOut } from '../api/session';
import { waitingQuery } from '../api/reports';
import type { Permission, Waiting } from '../api/types';
import { versionQuery } from '../api/version';
import { Icon, type IconName } from '../ui/icon';
import { ProjectSwitcher } from './project-switcher';
import classes from './shell.module.css';

/** Groups of links by task; the last group is for administrators of the project or the installation. */
const NAVIGATION = [
  {
    title: 'Watch',
    entries: [
      { to: '/', label: 'Overview', icon: 'overview', exact: true },
      {
        to: '/alerts',
        label: 'Alerts',
        icon: 'alerts',
        waiting: ({ alerts_open: open }) => [open, 'open'],
      },
      { to: '/series', label: 'Series', icon: 'series' },
      { to: '/matrix', label: 'Matrix', icon: 'matrix' },
      { to: '/compare', label: 'Compare', icon: 'compare' },
    ],
  },
  {
    title: 'Measure',
    entries: [
      {
        to: '/runs',
        label: 'Runs',
        icon: 'runs',
        waiting: ({ runs_queued: queued }) => [queued, 'queued'],
      },
      { to: '/arms', label: 'Arms', icon: 'arms' },
      {
        to: '/targets',
        label: 'Targets',
        icon: 'targets',
        waiting: ({ targets_quarantined: held }) => [held, 'quarantined'],
      },
    ],
  },
  {
    title: 'Decide',
    entries: [
      { to: '/rules', label: 'Rules', icon: 'rules' },
      {
        to: '/channels',
        label: 'Channels',
        icon: 'channels',
        needs: 'channels.write',
      },
      { to: '/policies', label: 'Usage policies', icon: 'policies' },
      { to: '/noise', label: 'Noise', icon: 'noise' },
    ],
  },
  {
    title: 'Data',
    entries: [
      { to: '/imports', label: 'Imports', icon: 'imports' },
      { to: '/audit', label: 'Audit log', icon: 'audit', needs: 'audit.read' },
    ],
  },
  {
    title: 'Manage',
    entries: [
      {
        to: '/members',
        label: 'Members',
        icon: 'members',
        needs: 'members.read',
      },
      { to: '/tokens', label: 'Tokens', icon: 'lock', needs: 'tokens.write' },
      {
        to: '/agents',
        label: 'Agents',
        icon: 'agents',
        needs: 'installation.admin',
      },
      {
        to: '/installation',
        label: 'Installation',
        icon: 'wrench',
        needs: 'installation.admin',
      },
    ],
  },
] as const satisfies readonly NavigationGroup[];

interface NavigationGroup {
  title: string;
  entries: readonly NavigationEntry[];
}

interface NavigationEntry {
  to: string;
  label: string;
  icon: IconName;
  exact?: boolean;
  /** The permission without which the link is hidden, because the page would only say that it is missing. */
  needs?: Permission;
  /** Returns the number of objects that wait for a person, and their state. */
  waiting?: (counts: Waiting) => readonly [count: number, state: string];
}

/** Opens the sign-in page after any answer 401, which means that the session ended; signing in returns here. */
function useSessionEnd() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { href } = useLocation();
  useEffect(() => {
    const leave = (error: unknown) => {
      if (!isApiError(error) || error.status !== 401) return;
      queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
      void navigate({ to: '/sign-in', search: { next: href } });
    };
    const stopQueries = queryClient.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error')
        leave(event.action.error);
    });
    const stopMutations = queryClient.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error')
        leave(event.action.error);
    });
    return () => {
      stopQueries();
      stopMutations();
    };
  }, [queryClient, navigate, href]);
}

const route = getRouteApi('/app');

/** Remounts its content when the project changes, so that no state of the previous project remains. */
export function ProjectShell() {
  const { project } = route.useSearch();
  return <Shell key={project ?? ''} />;
}

function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  useSessionEnd();
  return (
    <AppShell
      header={{ height: 54 }}
      padding={{ base: 'sm', sm: 'lg' }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !opened } }}
    >
      <a className="pl-skip" href="#main">
        Skip to content
      </a>
      <AppShell.Header className={classes.bar}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-expanded={opened}
              aria-label={opened ? 'Close navigation' : 'Open navigation'}
            />
            <Link to="/" className={classes.brand}>
              <img src="/icon.svg" alt="" />
              Paceline
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ProjectSwitcher />
            <ThemeSwitch />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="sm"
        className={classes.bar}
        aria-label="Main"
        role="navigation"
      >
        <Navigation onLeave={close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <div className={classes.main}>
          <Outlet />
          <Foot />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ onLeave }: { onLeave: () => void }) {
  const session = useQuery(sessionQuery);
  const waiting = useQuery(waitingQuery);
  return NAVIGATION.map(({ title, entries }) => {
    const offered = entries.filter(
      (entry) => !('needs' in entry) || may(session.data, entry.needs),
    );
    if (offered.length === 0) return null;
    return (
      <section key={title} aria-label={title}>
        <h2 className={classes.group}>{title}</h2>
        <ul className={classes.nav}>
          {offered.map((entry) => (
            <li key={entry.to}>
              <Link
                to={entry.to}
                activeOptions={{
                  exact: 'exact' in entry,
                  includeSearch: false,
                }}
                onClick={onLeave}
              >
                <Icon name={entry.icon} />
                {entry.label}
              </Link>
              {'waiting' in entry && waiting.data !== undefined && (
                <WaitingCount of={entry.waiting(waiting.data)} />
              )}
            </li>
          ))}
        </ul>
      </section>
    );
  });
}

/** Shows a count beside the link, not in it, so that the link's accessible name stays the same. */
function WaitingCount({
  of: [count, state],
}: {
  of: readonly [count: number, state: string];
}) {
  if (count === 0) return null;
  return (
    <span className={classes.waiting} title={`${count} ${state}`}>
      {count} <span className="pl-visually-hidden">{state}</span>
    </span>
  );
}

function Foot() {
  const answer = useQuery(versionQuery);
  if (!answer.data) return null;
  return (
    <footer className={classes.foot}>Paceline {answer.data.version}</footer>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={dark ? 'Use the light theme' : 'Use the dark theme'}
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
    >
      <Icon name={dark ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}

function AccountMenu() {
  const session = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      await navigate({ to: '/sign-in' });
      queryClient.clear();
    },
  });
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="Account">
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label c="var(--pl-muted)">
          {session.data?.account.name ?? 'Signed in'}
        </Menu.Label>
        <Menu.Item onClick={() => void navigate({ to: '/account' })}>
          My account
        </Menu.Item>
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
