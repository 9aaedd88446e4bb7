/** Placeholders for pages without data: each names the reason and what to do next. */
import { Button, Skeleton, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { isApiError } from '../api/errors';
import { Icon, type IconName } from './icon';
import classes from './layout.module.css';

interface StateProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: StateProps) {
  return (
    <div className={classes.state}>
      <span className={classes.stateIcon}>
        <Icon name={icon} />
      </span>
      <Title order={3}>{title}</Title>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

export function NoPermission({ what }: { what: string }) {
  return (
    <div className={classes.state} role="alert">
      <span className={classes.stateIcon}>
        <Icon name="lock" />
      </span>
      <Title order={3}>No access to {what}</Title>
      <p>
        Your account lacks the permission. Ask an administrator to grant it,
        then reload.
      </p>
    </div>
  );
}

export function ErrorState({
  error,
  what,
  onRetry,
}: {
  error: Error;
  what: string;
  onRetry?: () => void;
}) {
  if (isApiError(error) && error.status === 403)
    return <NoPermission what={what} />;
  const missing = isApiError(error) && error.status === 404;
  const absent = what.startsWith('the ')
    ? 'Not found'
    : `${what.charAt(0).toUpperCase()}${what.slice(1)} not found`;
  const title = missing
    ? absent
    : isApiError(error)
      ? error.title
      : `Cannot load ${what}`;
  return (
    <div className={classes.state} role="alert">
      <span className={`${classes.stateIcon} ${classes.stateBad}`}>
        <Icon name="warning" />
      </span>
      <Title order={3}>{title}</Title>
      <p>
        {missing
          ? 'It may have been removed, or the link is incomplete.'
          : error.message}
      </p>
      {isApiError(error) && <p className="pl-mono">{error.code}</p>}
      {onRetry !== undefined && !missing && (
        <Button variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Loading({ what, lines = 4 }: { what: string; lines?: number }) {
  return (
    <div
      role="status"
      aria-label={`Loading ${what}`}
      style={{ padding: '1rem' }}
    >
      <Stack gap="sm">
        {Array.from({ length: lines }, (_, line) => (
          <Skeleton
            key={line}
            height={18}
            width={line === lines - 1 ? '60%' : '100%'}
          />
        ))}
      </Stack>
    </div>
  );
}
