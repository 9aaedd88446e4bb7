/** Badges for a target's states and its preflight, for the list and the page. */
import { Group } from '@mantine/core';

import type { PreflightFinding, Target } from '../../api/types';
import {
  CONNECTION_STATES,
  HEALTH_STATES,
  MAINTENANCE_BADGES,
  PREFLIGHT_LEVELS,
  TARGET_STATES,
} from '../../ui/state-badges';
import { Status } from '../../ui/status';
import { SimulatedMark } from '../../ui/target-name';

/** Returns the badge of an offline device's connection, which says more than "offline"; else of the target's state. */
function connectionBadge({ state, connection }: Target) {
  return state === 'offline' &&
    connection !== null &&
    connection.state !== 'online'
    ? CONNECTION_STATES[connection.state]
    : TARGET_STATES[state];
}

export interface TargetMarksProps {
  target: Target;
  /** Stacks the badges, for the narrow column of a table. */
  stacked?: boolean;
}

export function TargetMarks({ target, stacked = false }: TargetMarksProps) {
  const { kind, health, maintenance, connection } = target;
  return (
    <Group gap={stacked ? 4 : 6} {...(stacked ? { maw: '8.5rem' } : {})}>
      <Status
        look={connectionBadge(target)}
        title={connection?.reason ?? undefined}
      />
      {kind === 'device' && (
        <Status
          look={HEALTH_STATES[health.state]}
          title={health.reason ?? undefined}
        />
      )}
      {maintenance !== null && (
        <Status
          look={MAINTENANCE_BADGES.maintenance}
          title={maintenance.reason ?? undefined}
        />
      )}
    </Group>
  );
}

/** Shows the marks of a target beside its title, including that of a simulated target. */
export function TitleMarks({ target }: { target: Target }) {
  return (
    <Group gap={6}>
      <TargetMarks target={target} />
      {target.simulated && <SimulatedMark />}
    </Group>
  );
}

/** Most severe first. */
export const LEVELS = ['blocker', 'warning', 'info'] as const;

export function Preflight({
  findings,
}: {
  findings: readonly PreflightFinding[];
}) {
  if (findings.length === 0)
    return <Status look={{ tone: 'good', icon: 'check', word: 'clean' }} />;
  const counts = LEVELS.map(
    (level) =>
      [
        level,
        findings.filter((finding) => finding.level === level).length,
      ] as const,
  );
  return (
    <Group gap={4} maw="7rem">
      {counts
        .filter(([, count]) => count > 0)
        .map(([level, count]) => (
          <Status
            key={level}
            look={{
              ...PREFLIGHT_LEVELS[level],
              word: counted(count, level),
            }}
          />
        ))}
    </Group>
  );
}

function counted(count: number, level: PreflightFinding['level']): string {
  const { word } = PREFLIGHT_LEVELS[level];
  return `${count} ${word}${count === 1 || level === 'info' ? '' : 's'}`;
}
