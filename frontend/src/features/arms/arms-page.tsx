/**
 * Compares native with fallback: in all suites until one is chosen, then for one benchmark the ratio with its
 * interval by point and target, the rule in words, and the raw distributions of a selected point. The server
 * computes every figure and writes every sentence.
 */
import { useQuery } from '@tanstack/react-query';

import { announcedSuitesQuery } from '../../api/catalog';
import { armsQuery } from '../../api/reports';
import type { Benchmark, Suite } from '../../api/types';
import { compact } from '../../lib/search-values';
import { ButtonLink } from '../../ui/button-link';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { NameTexts } from '../../ui/identifier';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { PoliciesPanel } from '../../ui/policy-card';
import { EmptyState } from '../../ui/states';
import { TargetFilter } from '../../ui/target-filter';
import { ArmsReport } from './arms-report';
import type { ArmsSearch } from './arms-search';
import { Standings } from './standings';

export interface ArmsPageProps {
  search: ArmsSearch;
  onSearch: (search: ArmsSearch) => void;
}

export function ArmsPage({ search, onSearch }: ArmsPageProps) {
  const suites = useQuery(announcedSuitesQuery);
  return (
    <Page
      title="Arms"
      about="Each arm against the reference it was written to beat, measured side by side in one job."
    >
      <QueryView query={suites} what="the suites">
        {({ items }) => {
          if (items.length === 0) return <NoSuites />;
          const suite = items.find(({ name }) => name === search.suite);
          const benchmark =
            suite?.benchmarks.find(({ name }) => name === search.benchmark) ??
            suite?.benchmarks[0];
          if (suite === undefined || benchmark === undefined)
            return (
              <>
                <FilterBar label="What to compare">
                  <SuitePicker suites={items} onSearch={onSearch} />
                </FilterBar>
                <Standings />
              </>
            );
          return (
            <>
              <Pickers
                suites={items}
                suite={suite}
                benchmark={benchmark}
                search={search}
                onSearch={onSearch}
              />
              <ChosenBenchmark
                suite={suite}
                benchmark={benchmark}
                search={search}
                onSearch={onSearch}
              />
              <PoliciesPanel
                filters={compact({ suite: suite.name, target: search.target })}
                benchmark={benchmark.name}
              />
            </>
          );
        }}
      </QueryView>
    </Page>
  );
}

function NoSuites() {
  return (
    <Panel title="Nothing to compare yet">
      <EmptyState
        icon="arms"
        title="No suites yet"
        action={
          <ButtonLink to="/targets" variant="default">
            Go to targets
          </ButtonLink>
        }
      >
        Agents announce the suites of their repositories. Run one to compare its
        arms.
      </EmptyState>
    </Panel>
  );
}

interface ChosenBenchmarkProps extends ArmsPageProps {
  suite: Suite;
  benchmark: Benchmark;
}

function SuitePicker({
  suites,
  chosen,
  target,
  onSearch,
}: {
  suites: readonly Suite[];
  chosen?: string;
  target?: string | undefined;
  onSearch: ArmsPageProps['onSearch'];
}) {
  return (
    <FilterSelect
      label="Suite"
      all="All suites"
      value={chosen}
      options={suites.map(({ name, title }) => ({ value: name, label: title }))}
      onChange={(suite) =>
        onSearch(suite === undefined ? {} : compact({ suite, target }))
      }
    />
  );
}

function Pickers({
  suites,
  suite,
  benchmark,
  search,
  onSearch,
}: ChosenBenchmarkProps & { suites: readonly Suite[] }) {
  const metrics = benchmark.metrics;
  return (
    <FilterBar label="What to compare">
      <SuitePicker
        suites={suites}
        chosen={suite.name}
        target={search.target}
        onSearch={onSearch}
      />
      <FilterSelect
        label="Benchmark"
        value={benchmark.name}
        options={suite.benchmarks.map(({ name, title }) => ({
          value: name,
          label: title,
        }))}
        onChange={(name) =>
          onSearch(
            compact({
              suite: suite.name,
              benchmark: name,
              target: search.target,
            }),
          )
        }
      />
      <FilterSelect
        label="Metric"
        value={search.metric ?? metrics[0]?.name}
        options={metrics.map(({ name }) => ({ value: name, label: name }))}
        onChange={(metric) =>
          onSearch(compact({ ...search, metric, point: undefined }))
        }
      />
      <TargetFilter
        value={search.target}
        onChange={(target) =>
          onSearch(compact({ ...search, target, point: undefined }))
        }
      />
    </FilterBar>
  );
}

function ChosenBenchmark({
  suite,
  benchmark,
  search,
  onSearch,
}: ChosenBenchmarkProps) {
  const { metric, target } = search;
  const arms = useQuery(
    armsQuery(
      compact({
        suite: suite.name,
        benchmark: benchmark.name,
        metric,
        target,
      }) as {
        suite: string;
        benchmark: string;
      },
    ),
  );
  return (
    <QueryView query={arms} what="the arms" lines={8}>
      {(data) =>
        data.comparisons.length === 0 ? (
          <Panel title={benchmark.title}>
            <EmptyState
              icon="arms"
              title="Not measured yet"
              action={
                <ButtonLink to="/runs/new" search={{ suite: suite.name }}>
                  Run {suite.title}
                </ButtonLink>
              }
            >
              {target === undefined
                ? 'No target has measured this benchmark yet.'
                : 'This target has not measured this benchmark yet.'}{' '}
              A run of a few minutes gives a first verdict.
            </EmptyState>
          </Panel>
        ) : (
          <NameTexts texts={data.name_texts}>
            <ArmsReport
              arms={data}
              benchmark={benchmark}
              search={search}
              onSearch={onSearch}
            />
          </NameTexts>
        )
      }
    </QueryView>
  );
}
