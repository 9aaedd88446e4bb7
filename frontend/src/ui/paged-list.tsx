/**
 * Shows one page of a list whose filters are in the address: loading, refused, empty, no matches, or rows with
 * a pager.
 */
import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import type { Page } from '../api/types';
import type { IconName } from './icon';
import { QueryView } from './query-view';
import { Pager } from './pager';
import { EmptyState } from './states';

export interface PagedListProps<Row> {
  query: UseQueryResult<Page<Row>>;
  /** Nouns for sentences: "the runs", "runs". */
  what: string;
  plural: string;
  icon: IconName;
  lines?: number;
  filtered: boolean;
  onClear: () => void;
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
  /** Shown when nothing exists yet: the reason and what to do. */
  empty: ReactNode;
  children: (rows: Row[]) => ReactNode;
}

export function PagedList<Row>(props: PagedListProps<Row>) {
  const {
    query,
    what,
    plural,
    icon,
    lines = 6,
    filtered,
    onClear,
    cursor,
    onCursor,
    empty,
    children,
  } = props;
  return (
    <QueryView query={query} what={what} lines={lines}>
      {({ items, next }) =>
        items.length > 0 ? (
          <>
            {children(items)}
            <Pager cursor={cursor} next={next} onCursor={onCursor} />
          </>
        ) : filtered ? (
          <NoMatch plural={plural} icon={icon} onClear={onClear} />
        ) : (
          empty
        )
      }
    </QueryView>
  );
}

function NoMatch({
  plural,
  icon,
  onClear,
}: {
  plural: string;
  icon: IconName;
  onClear: () => void;
}) {
  return (
    <EmptyState
      icon={icon}
      title={`No matching ${plural}`}
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    />
  );
}
