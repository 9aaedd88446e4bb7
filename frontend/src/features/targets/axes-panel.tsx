/**
 * Explains the state of a target: connection, jobs, health, maintenance and requests of people. They are independent:
 * each has its own reason and its own advice.
 */
import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

import type { Order, Target } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import {
  CONNECTION_STATES,
  HEALTH_STATES,
  MAINTENANCE_BADGES,
  TARGET_STATES,
} from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './targets.module.css';

export function AxesPanel({ target }: { target: Target }) {
  const { kind, state, takes_jobs: takesJobs } = target;
  return (
    <Panel title="Status">
      <div className={classes.axes}>
        <ConnectionAxis target={target} />
        <Axis
          name="Jobs"
          look={
            takesJobs.ok
              ? TAKES_JOBS
              : state === 'busy'
                ? TARGET_STATES.busy
                : TAKES_NO_JOBS
          }
        >
          <p>{sentence(takesJobs.words)}</p>
        </Axis>
        {kind === 'device' && <HealthAxis health={target.health} />}
        {target.maintenance !== null && (
          <MaintenanceAxis maintenance={target.maintenance} />
        )}
        {target.orders.length + target.refused_orders.length > 0 && (
          <Axis name="Requested">
            {target.orders.map((order) => (
              <PendingOrder key={order.id} order={order} />
            ))}
            {target.refused_orders.map((order) => (
              <RefusedOrder key={order.id} order={order} />
            ))}
          </Axis>
        )}
      </div>
    </Panel>
  );
}

const TAKES_JOBS: Badge = { tone: 'good', icon: 'check', word: 'takes jobs' };
const TAKES_NO_JOBS: Badge = {
  tone: 'quiet',
  icon: 'muted',
  word: 'takes no jobs',
};

/** Makes a sentence of the server's words. */
function sentence(words: string): string {
  const first = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

interface AxisProps {
  name: string;
  look?: Badge;
  since?: string | null;
  children?: ReactNode;
}

function Axis({ name, look, since = null, children }: AxisProps) {
  return (
    <section className={classes.axis} aria-label={name}>
      <Title order={3}>{name}</Title>
      <div>
        {look !== undefined && (
          <div className={classes.head}>
            <Status look={look} />
            {since !== null && (
              <span className={classes.quiet}>
                since <TimeAgo at={since} />
              </span>
            )}
          </div>
        )}
        {children}
      </div>
    </section>
  );
}

/** Shows the reason of a state and the advice for it, if any. */
function ReasonAndAdvice({
  reason,
  advice,
}: {
  reason: string | null;
  advice: string | null;
}) {
  return (
    <>
      {reason !== null && <p>{sentence(reason)}</p>}
      {advice !== null && <p className={classes.quiet}>{sentence(advice)}</p>}
    </>
  );
}

/** Shows the connection; for a host, that of its agent. */
function ConnectionAxis({
  target: { connection, state, agent_name: agent, imported },
}: {
  target: Target;
}) {
  if (imported) {
    return (
      <Axis name="Connection" look={TARGET_STATES.offline}>
        <p>No agent: only imported measurements.</p>
      </Axis>
    );
  }
  if (connection === null) {
    const isSilent = state === 'offline';
    return (
      <Axis
        name="Connection"
        look={isSilent ? TARGET_STATES.offline : TARGET_STATES.online}
      >
        <p>
          {isSilent
            ? `Agent ${agent} is not responding.`
            : `Reported by agent ${agent}.`}
        </p>
      </Axis>
    );
  }
  return (
    <Axis
      name="Connection"
      look={CONNECTION_STATES[connection.state]}
      since={connection.since}
    >
      <ReasonAndAdvice reason={connection.reason} advice={connection.advice} />
      {connection.route !== null && (
        <p className={classes.quiet}>
          By agent {agent}, at{' '}
          <span className="pl-mono">{connection.route}</span>.
        </p>
      )}
    </Axis>
  );
}

function HealthAxis({ health }: Pick<Target, 'health'>) {
  const { state, reason, advice, since, failures } = health;
  return (
    <Axis name="Health" look={HEALTH_STATES[state]} since={since}>
      <ReasonAndAdvice reason={reason} advice={advice} />
      {failures > 0 && (
        <p className={classes.quiet}>
          Infrastructure failures since the last good run: {failures}. The third
          causes quarantine.
        </p>
      )}
    </Axis>
  );
}

function MaintenanceAxis({
  maintenance,
}: {
  maintenance: NonNullable<Target['maintenance']>;
}) {
  const { by, reason, until, since } = maintenance;
  return (
    <Axis
      name="Maintenance"
      look={MAINTENANCE_BADGES.maintenance}
      since={since}
    >
      <p>
        By {by},{' '}
        {until === null
          ? 'until ended by hand'
          : `until ${formatDateTime(until)}`}
        .
      </p>
      {reason !== null && <p>{sentence(reason)}</p>}
    </Axis>
  );
}

const ORDER_LABELS: Record<Order['kind'], string> = {
  check: 'A health check',
  reboot: 'A restart',
};

function PendingOrder({ order }: { order: Order }) {
  return (
    <p>
      {ORDER_LABELS[order.kind]}, by {order.requested_by}{' '}
      <TimeAgo at={order.requested_at} />. Waiting for the agent’s next
      heartbeat and for the device to be free.
    </p>
  );
}

/** Shows a request of the last hour that was refused, with the reason. */
function RefusedOrder({ order }: { order: Order }) {
  return (
    <p>
      {ORDER_LABELS[order.kind]}, by {order.requested_by}{' '}
      <TimeAgo at={order.requested_at} />, was refused:{' '}
      {sentence(order.why ?? 'no reason given')}
    </p>
  );
}
