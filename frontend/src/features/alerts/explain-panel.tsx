/**
 * Explains how findings were decided: every filter with its value and limit, the data and the method, and
 * whether the stored samples still lead to the same result. The server writes every sentence.
 */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { explanationQuery } from '../../api/alerts';
import type { ExplainedFinding, Filter } from '../../api/types';
import { formatFigure } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './alerts.module.css';
import { FINDING_ROLES } from './finding-roles';

/** Findings shown at first: an incident has hundreds, each with a table. */
const SHOWN_FINDINGS = 12;

export function ExplainPanel({ alertId }: { alertId: string }) {
  const [again, setAgain] = useState(false);
  const [all, setAll] = useState(false);
  const explanation = useQuery(explanationQuery(alertId, again));
  const busy =
    again && (explanation.isPlaceholderData || explanation.isPending);
  return (
    <Panel
      title="How findings were decided"
      about="Each filter with its value and limit, and the data it used."
      actions={
        <Button
          variant="default"
          size="xs"
          loading={busy}
          disabled={again}
          onClick={() => setAgain(true)}
        >
          {again ? 'Recomputed' : 'Recompute from samples'}
        </Button>
      }
    >
      <QueryView query={explanation} what="the explanation" lines={5}>
        {({ findings }) => (
          <>
            {(all ? findings : findings.slice(0, SHOWN_FINDINGS)).map(
              (finding, index) => (
                <FindingView
                  key={finding.id}
                  finding={finding}
                  open={index === 0}
                />
              ),
            )}
            {!all && findings.length > SHOWN_FINDINGS && (
              <Button
                variant="default"
                size="xs"
                mt="sm"
                onClick={() => setAll(true)}
              >
                Show all {findings.length}
              </Button>
            )}
          </>
        )}
      </QueryView>
    </Panel>
  );
}

const HOLDS: Badge = { tone: 'good', icon: 'check', word: 'yes' };
const FALLS: Badge = { tone: 'unsure', icon: 'cross', word: 'no' };

/** Formats a value with enough digits to compare it with its limit: 0.015 must not read as 0.02. */
function figure(value: number | null): string {
  if (value === null) return '–';
  const between = Math.abs(value) >= 0.01 && Math.abs(value) < 1;
  return between ? String(Number(value.toPrecision(4))) : formatFigure(value);
}

const COLUMNS: readonly Column<Filter>[] = [
  {
    header: 'Passed',
    cell: ({ passed }) => <Status look={passed ? HOLDS : FALLS} />,
  },
  { header: 'Filter', cell: ({ name }) => name.replaceAll('_', ' ') },
  { header: 'Value', cell: ({ value }) => figure(value), align: 'right' },
  { header: 'Limit', cell: ({ limit }) => figure(limit), align: 'right' },
  { header: 'Summary', cell: ({ text }) => text, wrap: true },
];

function FindingView({
  finding,
  open,
}: {
  finding: ExplainedFinding;
  open: boolean;
}) {
  const title = `${FINDING_ROLES[finding.role]}: ${finding.where}`;
  return (
    <details className={classes.finding} open={open}>
      <summary>
        <strong>{title}</strong>{' '}
        <span className={classes.when}>
          <TimeAgo at={finding.created_at} />
        </span>
      </summary>
      <p className={classes.sentence}>{finding.words}</p>
      {finding.rederived && <RederivedMark of={finding.rederived} />}
      <p className={classes.window}>
        Data: {finding.window.text}
        {finding.window.first_at && finding.window.last_at && (
          <>
            , measured from <TimeAgo at={finding.window.first_at} /> to{' '}
            <TimeAgo at={finding.window.last_at} />
          </>
        )}
        .
      </p>
      {finding.segments.map(({ first_at, change }) => (
        <p key={first_at} className={classes.window}>
          A new segment since <TimeAgo at={first_at} />: {change}.
        </p>
      ))}
      {finding.filters.length > 0 && (
        <DataTable
          label={`Filters of ${title}`}
          rows={finding.filters}
          rowKey={({ name }) => name}
          columns={COLUMNS}
        />
      )}
      <details className={classes.details}>
        <summary>Method and parameters</summary>
        <p className="pl-mono" style={{ overflowWrap: 'anywhere' }}>
          {finding.method} · {JSON.stringify(finding.parameters)}
        </p>
      </details>
    </details>
  );
}

const SAME: Badge = {
  tone: 'good',
  icon: 'check',
  word: 'identical to the bit',
};
const OTHER: Badge = { tone: 'bad', icon: 'warning', word: 'different' };
const UNKNOWN: Badge = {
  tone: 'quiet',
  icon: 'muted',
  word: 'cannot be recomputed',
};

function RederivedMark({
  of: rederived,
}: {
  of: NonNullable<ExplainedFinding['rederived']>;
}) {
  const look =
    rederived.identical === null ? UNKNOWN : rederived.identical ? SAME : OTHER;
  return (
    <p className={classes.sentence}>
      <Status look={look} /> {rederived.text}
    </p>
  );
}
