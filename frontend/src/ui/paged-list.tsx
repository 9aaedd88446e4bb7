/**
 * One keyset page of a list whose filters are its address: loading, refused, nothing there yet, nothing that
 * matches, or the rows with their pager.
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
  /** Nouns for sentences: "the runs", "run". */
  what: string;
  one: string;
  icon: IconName;
  lines?: number;
  filtered: boolean;
  onClear: () => void;
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
  /** What stands there when nothing exists yet: the reason and what to do. */
  empty: ReactNode;
  children: (rows: Row[]) => ReactNode;
}

export function PagedList<Row>(props: PagedListProps<Row>) {
  const {
    query,
    what,
    one,
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
          <NoMatch one={one} icon={icon} onClear={onClear} />
        ) : (
          empty
        )
      }
    </QueryView>
  );
}

function NoMatch({
  one,
  icon,
  onClear,
}: {
  one: string;
  icon: IconName;
  onClear: () => void;
}) {
  return (
    <EmptyState
      icon={icon}
      title={`No ${one} matches these filters`}
      action={
        <Button variant="default" onClick={onClear}>
          Clear the filters
        </Button>
      }
    >
      Widen the filters to see more.
    </EmptyState>
  );
}
