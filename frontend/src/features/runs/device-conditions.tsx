/**
 * What of a device's conditions is no track: what it could not say, what its log told, and the texts its
 * readings were read out of. Nothing was asked of it while a launch ran.
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
import { namesIn } from './condition-track-data';

export interface DeviceConditionsProps {
  job: Job;
  conditions: readonly Conditions[];
}

export function DeviceConditions({ job, conditions }: DeviceConditionsProps) {
  const unknown = conditionLabels(namesIn(conditions, 'unknown'));
  const events = namesIn(conditions, 'events');
  const [shown, setShown] = useState(false);
  return (
    <>
      {unknown.length > 0 && (
        <p className={classes.said}>
          The device could not say: {unknown.join(', ')}. What is not known is
          not taken for good.
        </p>
      )}
      {events.length > 0 && (
        <details className={classes.more}>
          <summary>What its log told meanwhile ({events.length})</summary>
          <ul className={classes.events} aria-label="Events of the log">
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
        <summary>What the commands printed</summary>
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
            <p className={classes.said}>No text was kept of this reading.</p>
          ) : (
            <CommandOutputs label="Texts of the reading" texts={texts} />
          )
        }
      </QueryView>
    </div>
  );
}
