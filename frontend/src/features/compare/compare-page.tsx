/**
 * Two revisions or two runs side by side: what differs around them first, then every measurement in the
 * server's order. Shown, not judged, but where an A/B job decided; the way to one is offered.
 */
import { Button, TextInput } from '@mantine/core';
import {
  useInfiniteQuery,
  type InfiniteData,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { isApiError } from '../../api/errors';
import { compareQuery, type CompareFilters } from '../../api/reports';
import type { Compare } from '../../api/types';
import { compact } from '../../lib/search-values';
import { ButtonLink } from '../../ui/button-link';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { CompareReport } from './compare-report';
import classes from './compare.module.css';
import type { CompareSearchProps } from './compare-search';

export function ComparePage({ search, onSearch }: CompareSearchProps) {
  const { base, head } = search;
  return (
    <Page
      title="Compare"
      lead="Two revisions, or two runs, side by side: the surroundings first."
    >
      <Panel
        title="What to compare"
        note="A run by its id (run_…), or a revision by 7 or more digits of its commit."
      >
        <RevisionForm
          key={`${base} ${head}`}
          search={search}
          onSearch={onSearch}
        />
      </Panel>
      {base !== undefined && head !== undefined ? (
        <ComparedRevisions
          base={base}
          head={head}
          search={search}
          onSearch={onSearch}
        />
      ) : (
        <Panel title="Nothing chosen yet">
          <EmptyState
            icon="compare"
            title="Name a base and a head"
            action={
              <ButtonLink to="/runs" variant="default">
                Find a run
              </ButtonLink>
            }
          >
            Points of a series and changes of its level link here with both
            sides filled in.
          </EmptyState>
        </Panel>
      )}
    </Page>
  );
}

function RevisionForm({ search, onSearch }: CompareSearchProps) {
  const [base, setBase] = useState(search.base ?? '');
  const [head, setHead] = useState(search.head ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(compact({ ...search, base: base.trim(), head: head.trim() }));
  };
  const box = { maxLength: 64, className: classes.side ?? '' };
  return (
    <form onSubmit={submit} className={classes.sides}>
      <TextInput
        {...box}
        label="Base"
        placeholder="the one before"
        value={base}
        onChange={(event) => setBase(event.currentTarget.value)}
      />
      <TextInput
        {...box}
        label="Head"
        placeholder="the one after"
        value={head}
        onChange={(event) => setHead(event.currentTarget.value)}
      />
      <Button type="submit" disabled={base.trim() === '' || head.trim() === ''}>
        Compare
      </Button>
      <Button
        variant="default"
        disabled={search.base === undefined || search.head === undefined}
        onClick={() =>
          onSearch(compact({ ...search, base: search.head, head: search.base }))
        }
      >
        Swap
      </Button>
    </form>
  );
}

/** The server says which side it does not know. */
function NotMeasured({ error }: { error: Error }) {
  return (
    <Panel title="Nothing to compare">
      <EmptyState
        icon="compare"
        title={error.message}
        action={
          <ButtonLink to="/runs/new" variant="default">
            Run a suite
          </ButtonLink>
        }
      >
        Only what an ordinary run has measured can be compared: measure the
        revision first, or name a run.
      </EmptyState>
    </Panel>
  );
}

function ComparedRevisions({
  search,
  onSearch,
  base,
  head,
}: CompareSearchProps & { base: string; head: string }) {
  const { suite, target, benchmark, metric, only } = search;
  const filters: CompareFilters = {
    base,
    head,
    ...compact({ suite, target, benchmark, metric }),
    ...(only === 'clear' ? { hide_uncertain: true } : {}),
  };
  const compared = useInfiniteQuery(compareQuery(filters));
  if (isApiError(compared.error) && compared.error.status === 404) {
    return <NotMeasured error={compared.error} />;
  }
  return (
    <div className={classes.report}>
      <QueryView
        query={compared as UseQueryResult<InfiniteData<Compare>>}
        what="the comparison"
        lines={10}
      >
        {({ pages }) => (
          <CompareReport
            pages={pages}
            search={search}
            onSearch={onSearch}
            fetching={compared.isFetchingNextPage}
            stale={compared.isFetchNextPageError}
            onMore={() =>
              void (compared.isFetchNextPageError
                ? compared.refetch()
                : compared.fetchNextPage())
            }
          />
        )}
      </QueryView>
    </div>
  );
}
