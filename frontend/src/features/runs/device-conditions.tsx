/**
 * Shows conditions of a device that cannot be drawn as tracks: unknown values, events of its log, and the texts of its
 * readings. A device is never queried while a launch runs.
 */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { rawConditionsQuery } from '../../api/job-tails';
import type { Conditions, Job } from '../../api/types';
import { conditionLabels } from '../../lib/conditions';
import { formatDuration } from '../../lib/times';
import { FilterSelect } from '../../ui/filter-select';
import { QueryView } from '../../ui/query-view';
import { CommandOutputs } from '../../ui/command-outputs';
import classes from './runs.module.css';
import { listedNames } from './condition-track-data';

export interface DeviceConditionsProps {
  job: Job;
  conditions: readonly Conditions[];
}

export function DeviceConditions({ job, conditions }: DeviceConditionsProps) {
  const unknown = conditionLabels(listedNames(conditions, 'unknown'));
  const events = listedNames(conditions, 'events');
  const [shown, setShown] = useState(false);
  return (
    <>
      {unknown.length > 0 && (
        <p className={classes.said}>
          Not reported by the device: {unknown.join(', ')}. Unknown values do
          not count as good.
        </p>
      )}
      {events.length > 0 && (
        <details className={classes.more}>
          <summary>Device log events ({events.length})</summary>
          <ul className={classes.events} aria-label="Device log events">
            {events.map((line) => (
              <li key={line} className="pl-mono">
                {line}
              </li>
            ))}
          </ul>
        </details>
      )}
      <details
        className={classes.more}
        onToggle={(event) => setShown(event.currentTarget.open)}
      >
        <summary>Command output</summary>
        {shown && <RawReading job={job} conditions={conditions} />}
      </details>
    </>
  );
}

const PHASES: Record<Conditions['phase'], string> = {
  before: 'before',
  during: 'between launches',
  after: 'after',
};

function RawReading({ job, conditions }: DeviceConditionsProps) {
  const [first] = conditions;
  const [seq, setSeq] = useState(first?.seq ?? 0);
  const raw = useQuery(rawConditionsQuery(job.id, job.attempt, seq));
  return (
    <div className={classes.rawReading}>
      <FilterSelect
        label="Reading"
        maw={320}
        value={String(seq)}
        options={conditions.map((reading) => ({
          value: String(reading.seq),
          label: `${PHASES[reading.phase]}, at ${formatDuration((reading.at_ms - (first?.at_ms ?? 0)) / 1000)}`,
        }))}
        onChange={(value) => setSeq(Number(value))}
      />
      <QueryView query={raw} what="the texts" lines={2}>
        {(texts) =>
          texts.length === 0 ? (
            <p className={classes.said}>No output kept.</p>
          ) : (
            <CommandOutputs label="Output of the reading" texts={texts} />
          )
        }
      </QueryView>
    </div>
  );
}
