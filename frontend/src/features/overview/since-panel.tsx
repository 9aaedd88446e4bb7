/** Shows what is new since yesterday, the last visit or a day: changes, flipped verdicts, alerts and failed runs. */
import { Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';

import { selectedProject } from '../../api/project';
import { sinceQuery } from '../../api/reports';
import type {
  Alert,
  ChangeSince,
  FlippedVerdict,
  Since,
} from '../../api/types';
import { recordVisit } from '../../lib/last-visit';
import { paramsLabel } from '../../lib/params';
import { formatDateTime, startOfYesterday } from '../../lib/times';
import { keepFiguresUnbroken } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { changeBadge } from '../../ui/change-badges';
import { DataTable, type Column } from '../../ui/data-table';
import { DayFilter } from '../../ui/day-filter';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { Identifier } from '../../ui/identifier';
import { Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { RunsTable } from '../../ui/runs-table';
import { ALERT_STATES, DEMONSTRATION, VERDICTS } from '../../ui/state-badges';
import { Status } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import classes from './overview.module.css';
import type { OverviewSearch } from './overview-search';

export interface SincePanelProps {
  search: OverviewSearch;
  onSearch: (search: OverviewSearch) => void;
}

export function SincePanel({ search, onSearch }: SincePanelProps) {
  const [yesterday] = useState(() => startOfYesterday(Date.now()));
  const page = `overview.${selectedProject() ?? ''}`;
  const [lastVisit] = useState(() => recordVisit(page, Date.now()));
  const choice =
    search.since ?? (lastVisit === undefined ? 'yesterday' : 'visit');
  const from =
    choice === 'visit'
      ? (lastVisit ?? yesterday)
      : choice === 'yesterday'
        ? yesterday
        : choice;
  const since = useQuery(sinceQuery(from));
  const seen = since.dataUpdatedAt;
  useEffect(() => {
    if (seen > 0) recordVisit(page, seen);
  }, [page, seen]);
  const isDay = choice !== 'visit' && choice !== 'yesterday';
  return (
    <Panel
      title="What is new"
      about="A verdict flipped where the newest that passes or fails differs from the last one before, on the same target and branch. Runs and verdicts are of runs requested since then."
      note={`Since ${formatDateTime(from)}`}
      flush
      actions={
        <Group gap="xs" align="flex-end">
          <FilterSelect
            label="Since"
            value={isDay ? 'day' : choice}
            options={[
              { value: 'yesterday', label: 'yesterday' },
              ...(lastVisit === undefined
                ? []
                : [{ value: 'visit', label: 'my last visit' }]),
              { value: 'day', label: 'a day' },
            ]}
            onChange={(next) =>
              onSearch({ since: next === 'day' ? yesterday : next })
            }
          />
          {isDay && (
            <DayFilter
              label="Day"
              value={choice}
              onChange={(day) => onSearch({ since: day })}
            />
          )}
        </Group>
      }
    >
      <QueryView query={since} what="what is new" lines={3}>
        {(data) => <NewEntries since={data} />}
      </QueryView>
    </Panel>
  );
}

function NewEntries({ since }: { since: Since }) {
  const { changes, flips, alerts, runs, more } = since;
  return (
    <>
      <p className={classes.news}>{since.words}</p>
      <Section title="Changes" rows={changes.length}>
        <DataTable
          label="Changes"
          rows={changes}
          rowKey={({ id }) => id}
          columns={CHANGES}
        />
        {more.includes('changes') && (
          <MoreLink>
            <AppLink
              to="/series"
              search={{ changed: 'yes', from: since.since }}
            >
              All series with a change
            </AppLink>
          </MoreLink>
        )}
      </Section>
      <Section title="Flipped verdicts" rows={flips.length}>
        <DataTable
          label="Flipped verdicts"
          rows={flips}
          rowKey={({ job_id: job, benchmark, arm, metric, params }) =>
            [job, benchmark, arm, metric, paramsLabel(params)].join('|')
          }
          columns={FLIPS}
        />
        {more.includes('flips') && (
          <MoreLink>
            <AppLink to="/arms">All arms</AppLink>
          </MoreLink>
        )}
      </Section>
      <Section title="New alerts" rows={alerts.length}>
        <DataTable
          label="New alerts"
          rows={alerts}
          rowKey={({ id }) => id}
          columns={ALERTS}
        />
        {more.includes('alerts') && (
          <MoreLink>
            <AppLink to="/alerts" search={{ from: since.since }}>
              All alerts since then
            </AppLink>
          </MoreLink>
        )}
      </Section>
      <Section title="Failed runs" rows={runs.length}>
        <RunsTable label="Failed runs" runs={runs} brief />
        {more.includes('runs') && (
          <MoreLink>
            <AppLink to="/runs" search={{ state: 'failed', from: since.since }}>
              All failed runs since then
            </AppLink>
          </MoreLink>
        )}
      </Section>
    </>
  );
}

/** Shows a list under its heading, or nothing if it is empty, because the sentence above says so. */
function Section({
  title,
  rows,
  children,
}: {
  title: string;
  rows: number;
  children: ReactNode;
}) {
  if (rows === 0) return null;
  return (
    <>
      <Title order={3} className={classes.newsHeading}>
        {title}
      </Title>
      {children}
    </>
  );
}

function MoreLink({ children }: { children: ReactNode }) {
  return <p className={classes.news}>The newest only. {children}</p>;
}

const CHANGES: readonly Column<ChangeSince>[] = [
  {
    header: 'Change',
    cell: (change) => (
      <>
        <Status look={changeBadge(change)} />
        <div className={classes.sub}>{change.words}</div>
      </>
    ),
  },
  {
    header: 'Series',
    breaks: true,
    cell: ({ series_id: seriesId, title, benchmark, arm, metric, params }) => (
      <>
        <AppLink to="/series/$seriesId" params={{ seriesId }}>
          <Identifier
            name={`${title ?? `${benchmark} · ${arm}`} · ${metric}`}
          />
        </AppLink>
        <div className={classes.sub}>{paramsLabel(params)}</div>
      </>
    ),
  },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
  {
    header: 'Commit',
    cell: ({ commit }) => (
      <span className="pl-mono">{commit.slice(0, 10)}</span>
    ),
  },
  { header: 'Found', cell: ({ found_at: at }) => <TimeAgo at={at} /> },
];

const FLIPS: readonly Column<FlippedVerdict>[] = [
  {
    header: 'Verdict',
    cell: ({ before, verdict }) => (
      <Group gap={4} wrap="nowrap">
        <Status look={VERDICTS[before]} />
        <Icon name="arrowRight" size={14} />
        <Status look={VERDICTS[verdict]} />
      </Group>
    ),
  },
  {
    header: 'Arm',
    wrap: true,
    cell: ({
      suite,
      benchmark,
      arm,
      reference,
      params,
      target_id: target,
      words,
    }) => (
      <>
        <AppLink to="/arms" search={{ suite, benchmark, target }}>
          {benchmark} · {arm} against {reference}
        </AppLink>
        <div className={classes.sub}>
          {[paramsLabel(params), words].filter(Boolean).join(': ')}
        </div>
      </>
    ),
  },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
  {
    header: 'Measured',
    cell: ({ run_id: runId, job_id: job, measured_at: at }) => (
      <AppLink to="/runs/$runId" params={{ runId }} search={{ job }}>
        <TimeAgo at={at} />
      </AppLink>
    ),
  },
];

const ALERTS: readonly Column<Alert>[] = [
  {
    header: 'Alert',
    wrap: true,
    cell: ({ id, title, words }) => (
      <>
        <AppLink to="/alerts/$alertId" params={{ alertId: id }}>
          {title}
        </AppLink>
        <div className={classes.sub}>{keepFiguresUnbroken(words)}</div>
      </>
    ),
  },
  {
    header: 'State',
    cell: ({ state, demonstration }) => (
      <Group gap={4}>
        <Status look={ALERT_STATES[state]} />
        {demonstration && <Status look={DEMONSTRATION} />}
      </Group>
    ),
  },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name ?? '–'} />
    ),
  },
  { header: 'First seen', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
];
