/**
 * Shows the history of one series: its points with levels, changes and conditions, and the reason of each
 * change. The window and the selected point are in the address.
 */
import { useQuery } from '@tanstack/react-query';

import { pointsQuery, seriesQuery } from '../../api/series';
import type { SeriesPage as SeriesData } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Panel, MainAndAside } from '../../ui/panel';
import { TargetName } from '../../ui/target-name';
import { compact } from '../../lib/search-values';
import { ChangesPanel } from './changes-panel';
import { HistoryPanel } from './history-panel';
import { LevelsPanel } from './levels-panel';
import { NotesPanel } from './notes-panel';
import type { SeriesSearch } from './series-search';
import { SeriesFacts } from './series-facts';

export interface SeriesPageProps {
  seriesId: string;
  search: SeriesSearch;
  onSearch: (search: SeriesSearch) => void;
}

export function SeriesPage({ seriesId, search, onSearch }: SeriesPageProps) {
  const series = useQuery(seriesQuery(seriesId));
  const summary = series.data?.series;
  const name =
    summary === undefined
      ? 'Series'
      : `${summary.title ?? `${summary.benchmark} ${summary.arm}`} ${summary.metric}`;
  return (
    <Page
      title={summary === undefined ? name : `${name} on ${summary.target_name}`}
      heading={name}
      crumb={<AppLink to="/series">Series</AppLink>}
      {...(summary === undefined
        ? {}
        : { lead: <Lead page={series.data as SeriesData} /> })}
      actions={
        summary?.imported === false && (
          <ButtonLink
            to="/arms"
            variant="default"
            search={{
              suite: summary.suite,
              benchmark: summary.benchmark,
              target: summary.target_id,
            }}
          >
            Arms of this benchmark
          </ButtonLink>
        )
      }
    >
      <QueryView query={series} what="series" lines={10}>
        {(page) => <Contents page={page} search={search} onSearch={onSearch} />}
      </QueryView>
    </Page>
  );
}

function Lead({ page: { series } }: { page: SeriesData }) {
  return (
    <>
      {paramsLabel(series.params)} · {series.suite} on{' '}
      <TargetName link id={series.target_id} name={series.target_name} />
      {series.branch !== '' && ` · branch ${series.branch}`}
    </>
  );
}

function Contents({
  page,
  search,
  onSearch,
}: { page: SeriesData } & Omit<SeriesPageProps, 'seriesId'>) {
  const { from, to } = search;
  const points = useQuery(pointsQuery(page.series.id, compact({ from, to })));
  const list = points.data?.points ?? [];
  const chosen =
    list.find(({ job_id: id }) => id === search.point) ?? list.at(-1);
  return (
    <>
      <Panel title="History" note={`${page.state}.`}>
        <QueryView query={points} what="the points" lines={8}>
          {(data) => (
            <HistoryPanel
              page={page}
              data={data}
              chosen={chosen}
              stale={points.isPlaceholderData}
              search={search}
              onSearch={onSearch}
            />
          )}
        </QueryView>
      </Panel>
      <ChangesPanel page={page} />
      <LevelsPanel page={page} />
      <div style={{ marginTop: '1rem' }}>
        <MainAndAside
          main={<NotesPanel page={page} point={chosen} />}
          aside={<SeriesFacts page={page} />}
        />
      </div>
    </>
  );
}
