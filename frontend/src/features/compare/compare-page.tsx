/**
 * Compares two revisions or two runs: first the differences of the environment, then every measurement in the
 * server's order. Only A/B jobs have verdicts, so the page offers to start one.
 */
import { Button } from '@mantine/core';
import {
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { suitesQuery } from '../../api/catalog';
import { isApiError } from '../../api/errors';
import { compareQuery, type CompareFilters } from '../../api/reports';
import { runsQuery } from '../../api/runs';
import type { Compare } from '../../api/types';
import { compact } from '../../lib/search-values';
import { ButtonLink } from '../../ui/button-link';
import { FilterSelect } from '../../ui/filter-select';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { CompareReport } from './compare-report';
import classes from './compare.module.css';
import type { CompareSearchProps } from './compare-search';
import { choicesOf, SideField, sideOf } from './side-field';

export function ComparePage({ search, onSearch }: CompareSearchProps) {
  const { base, head } = search;
  return (
    <Page title="Compare" about="Two revisions or two runs, side by side.">
      <Panel
        title="What to compare"
        about="Choose from what was measured last, or enter a run's id (run_…) or at least 7 digits of a commit. A branch stands for its newest measured commit. A commit that several suites measured needs a suite."
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
            title="Choose a base and a head"
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
  const suites = useQuery(suitesQuery);
  const recent = useQuery(runsQuery(compact({ suite: search.suite })));
  const choices = choicesOf(recent.data?.items ?? []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(
      compact({
        ...search,
        base: sideOf(base, choices),
        head: sideOf(head, choices),
      }),
    );
  };
  return (
    <form onSubmit={submit} className={classes.sides}>
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        onChange={(suite) => onSearch(compact({ ...search, suite }))}
        options={suites.data?.items.map(({ name, title }) => ({
          value: name,
          label: title,
        }))}
      />
      <SideField
        label="Base"
        placeholder="older branch, commit or run"
        value={base}
        choices={choices}
        onChange={setBase}
      />
      <SideField
        label="Head"
        placeholder="newer branch, commit or run"
        value={head}
        choices={choices}
        onChange={setHead}
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

/** Shows the server's sentence about the side that it does not know. */
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

/** Shows why two sides that are known cannot be compared, for example because they are of two suites. */
function NotComparable({ error }: { error: Error }) {
  return (
    <Panel title="Nothing to compare">
      <div role="alert">
        <EmptyState icon="compare" title="These two cannot be compared">
          {error.message}
        </EmptyState>
      </div>
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
  if (
    isApiError(compared.error) &&
    compared.error.status === 400 &&
    !compared.isFetchNextPageError
  ) {
    return <NotComparable error={compared.error} />;
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
