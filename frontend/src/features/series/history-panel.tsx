/** The chart of a series with everything that depends on its window: controls, the selected point, conditions. */
import { Button } from '@mantine/core';
import { useMemo } from 'react';

import type { SeriesPage, SeriesPoint, SeriesPoints } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { HistoryChart } from '../../charts/history-chart';
import { HistoryControls } from '../../charts/history-controls';
import { HistoryLegend } from '../../charts/history-legend';
import { compact } from '../../lib/search-values';
import { formatInteger } from '../../lib/units';
import { ButtonLink } from '../../ui/button-link';
import { EmptyState } from '../../ui/states';
import {
  pictureOf,
  pointLines,
  pointsWithin,
  signsOf,
  computeSpans,
  unitAt,
} from './history-model';
import { PointCard } from './point-card';
import { PointTable } from './point-table';
import { PointTracks } from './point-tracks';
import type { SeriesSearch } from './series-search';
import classes from './series.module.css';

export interface HistoryPanelProps {
  page: SeriesPage;
  data: SeriesPoints;
  chosen: SeriesPoint | undefined;
  /** True while the points are those of the previous window. */
  stale: boolean;
  search: SeriesSearch;
  onSearch: (search: SeriesSearch) => void;
}

/** Memoizes the picture, so that selecting points does not redraw the chart. */
function usePicture({ page, data, search: { from, to } }: HistoryPanelProps) {
  return useMemo(() => {
    const { span, whole } = computeSpans(data, { from, to });
    const points = pointsWithin(data, span);
    return { span, whole, points, picture: pictureOf(page, points, span) };
  }, [page, data, from, to]);
}

export function HistoryPanel(props: HistoryPanelProps) {
  const { page, data, chosen, stale, search, onSearch } = props;
  const { span, whole, points, picture } = usePicture(props);
  const showAll = () => onSearch(compact({ point: search.point }));
  if (points.length === 0 && !stale)
    return <NoPoints page={page} onShowAll={showAll} />;
  const zoom = (from: number, to: number) => {
    if (from <= whole[0] && to >= whole[1]) showAll();
    else
      onSearch({
        ...search,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      });
  };
  const choose = (point: string) => onSearch({ ...search, point });
  const describe = (key: string) => {
    const point = points.find(({ job_id: id }) => id === key);
    return point === undefined
      ? []
      : pointLines(point, unitAt(page, point.environment));
  };
  return (
    <>
      <ChartFrame
        title={`${page.series.metric} of each job`}
        summary={summaryOf(data)}
        legend={<HistoryLegend signs={signsOf(page, picture)} />}
        chart={
          <HistoryChart
            picture={picture}
            chosen={chosen?.job_id}
            describe={describe}
            onChoose={choose}
            onZoom={zoom}
          />
        }
        controls={
          <>
            <HistoryControls
              keys={points.map(({ job_id: id }) => id)}
              chosen={chosen?.job_id}
              describe={describe}
              onChoose={choose}
              span={span}
              whole={whole}
              middle={chosen === undefined ? undefined : Date.parse(chosen.at)}
              onZoom={zoom}
              onReset={showAll}
            />
            <Hint />
            {chosen !== undefined && (
              <PointCard page={page} points={points} point={chosen} />
            )}
            <PointTracks points={points} tracks={data.tracks} span={span} />
          </>
        }
        table={
          <PointTable page={page} points={points} current={chosen?.job_id} />
        }
        tableToggle="Points as a table"
        tableOnDemand
      />
    </>
  );
}

function Hint() {
  return (
    <p className={classes.hint}>
      Drag to zoom in, click to select a point; the slider and the buttons do
      the same.
    </p>
  );
}

function summaryOf({ total, note }: SeriesPoints): string {
  const counted = `${formatInteger(total)} ${total === 1 ? 'point' : 'points'} in this window.`;
  return note === '' ? counted : `${counted} ${note}`;
}

function NoPoints({
  page,
  onShowAll,
}: {
  page: SeriesPage;
  onShowAll: () => void;
}) {
  if (page.series.points > 0) {
    return (
      <EmptyState
        icon="runs"
        title="No points in this window"
        action={
          <Button variant="default" onClick={onShowAll}>
            Show all points
          </Button>
        }
      >
        The series has {formatInteger(page.series.points)} points at other
        times.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="runs"
      title="No points yet"
      action={
        !page.series.imported && (
          <ButtonLink to="/runs/new" search={{ suite: page.series.suite }}>
            Run {page.series.suite}
          </ButtonLink>
        )
      }
    >
      Every ordinary run of the suite adds a point.
    </EmptyState>
  );
}
