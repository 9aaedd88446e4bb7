/**
 * Shows a query by its state. Older data stays visible while it is fetched again; if that fails, the page says so
 * above the data.
 */
import { Alert } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { isApiError } from '../api/errors';
import { Icon } from './icon';
import { ErrorState, Loading } from './states';

export interface QueryViewProps<T> {
  query: UseQueryResult<T>;
  /** A noun for sentences: "the alerts". */
  what: string;
  lines?: number;
  children: (data: T) => ReactNode;
}

export function QueryView<T>({
  query,
  what,
  lines,
  children,
}: QueryViewProps<T>) {
  const refused =
    isApiError(query.error) &&
    (query.error.status === 403 || query.error.status === 404);
  if (query.data === undefined || refused) {
    if (query.error !== null) {
      return (
        <ErrorState
          error={query.error}
          what={what}
          onRetry={() => void query.refetch()}
        />
      );
    }
    return <Loading what={what} {...(lines === undefined ? {} : { lines })} />;
  }
  return (
    <>
      {query.error !== null && (
        <Alert
          color="yellow"
          variant="outline"
          icon={<Icon name="warning" />}
          m="sm"
          role="status"
        >
          Not up to date: {query.error.message}
        </Alert>
      )}
      {children(query.data)}
    </>
  );
}
