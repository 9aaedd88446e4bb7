/** The events of a target by axis, with the evidence of each. */
import { Button } from '@mantine/core';
import {
  useInfiniteQuery,
  type InfiniteData,
  type UseQueryResult,
} from '@tanstack/react-query';

import { targetEventsQuery } from '../../api/targets';
import type { EventAxis, Page, TargetEvent } from '../../api/types';
import { DetailLines } from '../../ui/detail-lines';
import { FilterSelect } from '../../ui/filter-select';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Timeline } from '../../ui/timeline';
import classes from './targets.module.css';
import { AXES } from './targets-search';
import { AXIS_LABELS } from './target-texts';

export interface EventsPanelProps {
  targetId: string;
  axis: EventAxis | undefined;
  onAxis: (axis: EventAxis | undefined) => void;
}

export function EventsPanel({ targetId, axis, onAxis }: EventsPanelProps) {
  const events = useInfiniteQuery(targetEventsQuery(targetId, axis));
  return (
    <Panel
      title="History"
      actions={
        <FilterSelect
          label="Events"
          all="All events"
          value={axis}
          options={AXES.map((value) => ({ value, label: AXIS_LABELS[value] }))}
          onChange={(next) => onAxis(next as EventAxis | undefined)}
        />
      }
    >
      <QueryView
        query={events as UseQueryResult<InfiniteData<Page<TargetEvent>>>}
        what="the history"
        lines={4}
      >
        {({ pages }) => <Events events={pages.flatMap(({ items }) => items)} />}
      </QueryView>
      {events.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          mt="sm"
          loading={events.isFetchingNextPage}
          onClick={() => void events.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </Panel>
  );
}

function Events({ events }: { events: readonly TargetEvent[] }) {
  if (events.length === 0) {
    return (
      <EmptyState icon="audit" title="No events yet">
        Changes of connection, health and maintenance appear here with their
        reason and evidence.
      </EmptyState>
    );
  }
  return (
    <Timeline
      label="History"
      entries={events.map(({ id, at, axis, actor, words, evidence }) => ({
        key: id,
        at,
        actor: `${AXIS_LABELS[axis]}, ${actor}`,
        words: words.slice(0, 1).toUpperCase() + words.slice(1),
        note:
          Object.keys(evidence).length === 0 ? null : (
            <div className={classes.evidence}>
              <DetailLines detail={evidence} summary="Evidence" />
            </div>
          ),
      }))}
    />
  );
}
