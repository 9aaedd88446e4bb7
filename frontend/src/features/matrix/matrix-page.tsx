/** Where a whole suite stands, benchmark by target: the newest value, the last change, what is stale. */
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
      lead="Each benchmark on each target: what it took last, and whether its level changed."
      actions={
        <ButtonLink
          to="/series"
          variant="default"
          search={compact({ suite: search.suite })}
        >
          As a list of series
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
        note="A cell says the worst of all its series and links to the one its number is from."
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
  return (
    <EmptyState
      icon="matrix"
      title="Nothing has been measured yet"
      action={
        <ButtonLink to="/runs/new" search={{ suite: suite.name }}>
          Run {suite.title}
        </ButtonLink>
      }
    >
      The first ordinary run of the suite fills a column for each target it ran
      on.
    </EmptyState>
  );
}

function NoSuites() {
  return (
    <Panel title="Nothing to show yet">
      <EmptyState
        icon="matrix"
        title="No agent has announced a suite"
        action={
          <ButtonLink to="/targets" variant="default">
            See the targets
          </ButtonLink>
        }
      >
        Suites come from the repositories an agent is allowed to use; once one
        is announced and run, it stands here.
      </EmptyState>
    </Panel>
  );
}
