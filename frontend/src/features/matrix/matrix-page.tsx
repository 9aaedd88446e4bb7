/** Shows the state of a suite in a table of benchmarks and targets: newest values, last changes, stale series. */
import { useQuery } from '@tanstack/react-query';

import { suitesQuery } from '../../api/catalog';
import { matrixQuery } from '../../api/reports';
import type { Matrix, Suite } from '../../api/types';
import { compact } from '../../lib/search-values';
import { suiteToOpen } from '../../lib/suites';
import { ButtonLink } from '../../ui/button-link';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import type { MatrixSearch } from './matrix-search';
import { MatrixTable } from './matrix-table';

export interface MatrixPageProps {
  search: MatrixSearch;
  onSearch: (search: MatrixSearch) => void;
}

export function MatrixPage({ search, onSearch }: MatrixPageProps) {
  const suites = useQuery(suitesQuery);
  return (
    <Page
      title="Matrix"
      about="The newest value of each benchmark on each target, and whether its level changed."
      actions={
        <ButtonLink
          to="/series"
          variant="default"
          search={compact({ suite: search.suite })}
        >
          View as list
        </ButtonLink>
      }
    >
      <QueryView query={suites} what="the suites">
        {({ items }) => {
          const suite = suiteToOpen(items, search.suite);
          if (suite === undefined) return <NoSuites />;
          return (
            <SuiteMatrix
              suites={items}
              suite={suite}
              search={search}
              onSearch={onSearch}
            />
          );
        }}
      </QueryView>
    </Page>
  );
}

interface SuiteMatrixProps extends MatrixPageProps {
  suites: readonly Suite[];
  suite: Suite;
}

function SuiteMatrix({ suites, suite, search, onSearch }: SuiteMatrixProps) {
  const matrix = useQuery(
    matrixQuery({ suite: suite.name, ...compact({ branch: search.branch }) }),
  );
  const branches = matrix.data?.branches ?? [];
  return (
    <>
      <FilterBar label="What to show">
        <FilterSelect
          label="Suite"
          value={suite.name}
          options={suites.map(({ name, title }) => ({
            value: name,
            label: title,
          }))}
          onChange={(name) => onSearch(compact({ suite: name }))}
        />
        {branches.length > 0 && (
          <FilterSelect
            label="Branch"
            value={matrix.data?.branch ?? search.branch}
            options={branches.map((name) => ({
              value: name,
              label: name === '' ? 'no branch' : name,
            }))}
            onChange={(branch) =>
              onSearch(compact({ suite: suite.name, branch }))
            }
          />
        )}
      </FilterBar>
      <Panel
        title={suite.title}
        flush
        about="A cell shows the worst state of its series. It links to the series that has the value."
      >
        <QueryView query={matrix} what="the matrix" lines={6}>
          {(data) =>
            isEmpty(data) ? (
              <NotMeasured suite={suite} />
            ) : (
              <MatrixTable matrix={data} />
            )
          }
        </QueryView>
      </Panel>
    </>
  );
}

function isEmpty({ rows }: Matrix): boolean {
  return rows.every(
    ({ cells, unmeasured }) => cells.length === 0 && unmeasured.length === 0,
  );
}

function NotMeasured({ suite }: { suite: Suite }) {
  if (suite.imported)
    return (
      <EmptyState icon="matrix" title="Nothing imported">
        No import has measured the suite on this branch.
      </EmptyState>
    );
  return (
    <EmptyState
      icon="matrix"
      title="Not measured yet"
      action={
        <ButtonLink to="/runs/new" search={{ suite: suite.name }}>
          Run {suite.title}
        </ButtonLink>
      }
    >
      The first ordinary run of the suite adds a column for each of its targets.
    </EmptyState>
  );
}

function NoSuites() {
  return (
    <Panel title="Nothing to show yet">
      <EmptyState
        icon="matrix"
        title="No suites yet"
        action={
          <ButtonLink to="/targets" variant="default">
            Go to targets
          </ButtonLink>
        }
      >
        Agents announce the suites of their repositories. Run one, or import
        what another tool measured, to see it here.
      </EmptyState>
    </Panel>
  );
}
