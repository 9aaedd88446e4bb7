/**
 * Compares two revisions or two runs: first the differences of the environment, then every measurement in the
 * server's order. Only A/B jobs judge, so the page offers to start one.
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
    <Page title="Compare" about="Two revisions or two runs, side by side.">
      <Panel
        title="What to compare"
        note="A run id (run_…), or at least 7 digits of a commit."
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
        <Panel title="Nothing selected">
          <EmptyState
            icon="compare"
            title="Enter a base and a head"
            action={
              <ButtonLink to="/runs" variant="default">
                Find a run
              </ButtonLink>
            }
          >
            Points and changes of a series link here with both sides filled in.
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
        placeholder="older run or commit"
        value={base}
        onChange={(event) => setBase(event.currentTarget.value)}
      />
      <TextInput
        {...box}
        label="Head"
        placeholder="newer run or commit"
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
        Only ordinary runs can be compared: measure the revision first, or enter
        a run.
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
