/** A target's state, its hold and its preflight as marks; used by the list and the page. */
import { Group } from '@mantine/core';

import type { PreflightFinding, Target } from '../../api/types';
import { HOLDS, PREFLIGHT_LEVELS, TARGET_STATES } from '../../ui/looks';
import { Status } from '../../ui/status';

export function TargetMarks({ target }: { target: Target }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Status look={TARGET_STATES[target.state]} />
      {target.hold !== null && <Status look={HOLDS[target.hold]} title={target.hold_reason ?? undefined} />}
      {target.simulated && <Status look={{ tone: 'demo', icon: 'flask', word: 'simulated' }} />}
    </Group>
  );
}

/** Why a target takes no jobs, or undefined when it does. */
export function whyNot(target: Target): string | undefined {
  if (target.hold !== null) return target.hold_reason ?? HOLDS[target.hold].word;
  if (target.refuses !== null) return target.refuses;
  if (target.state === 'offline') return 'its agent is offline';
  return undefined;
}

/** The gravest first. */
export const LEVELS = ['blocker', 'warning', 'info'] as const;

export function Preflight({ findings }: { findings: readonly PreflightFinding[] }) {
  if (findings.length === 0) return <Status look={{ tone: 'good', icon: 'check', word: 'clean' }} />;
  const counted = LEVELS.map(
    (level) => [level, findings.filter((finding) => finding.level === level).length] as const,
  );
  return (
    <Group gap={6} wrap="nowrap">
      {counted
        .filter(([, count]) => count > 0)
        .map(([level, count]) => (
          <Status
            key={level}
            look={{ ...PREFLIGHT_LEVELS[level], word: `${count} ${PREFLIGHT_LEVELS[level].word}` }}
          />
        ))}
    </Group>
  );
}
