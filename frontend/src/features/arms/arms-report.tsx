/**
 * The comparisons of one benchmark: what is judged and how, a chart per target, the table, the
 * distributions.
 */
import { Group } from '@mantine/core';

import type { Arms, Benchmark, Comparison, Verdict } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { comparisonKey, ComparisonTable } from '../../ui/comparison-table';
import { DEMONSTRATION, VERDICTS } from '../../ui/looks';
import { Panel } from '../../ui/panel';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { DistributionPanel } from './distribution-panel';
import { RatioChart } from './ratio-chart';

export interface ArmsReportProps {
  arms: Arms;
  benchmark: Benchmark;
  point: string | undefined;
  onPoint: (point: string) => void;
}

const SEVERITY: readonly Verdict[] = ['fail', 'inconclusive', 'pass'];

function byTarget(comparisons: readonly Comparison[]): Map<string, Comparison[]> {
  const groups = new Map<string, Comparison[]>();
  for (const row of comparisons) {
    const key = row.target_id ?? '';
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

/** The point the page opens with: the one most in need of a look. */
function worst(comparisons: readonly Comparison[]): Comparison | undefined {
  return SEVERITY.flatMap((verdict) => comparisons.filter((row) => row.verdict === verdict))[0];
}

export function ArmsReport({ arms, benchmark, point, onPoint }: ArmsReportProps) {
  const groups = [...byTarget(arms.comparisons)];
  const chosen = arms.comparisons.find((row) => comparisonKey(row) === point) ?? worst(arms.comparisons);
  return (
    <>
      <Panel title={benchmark.title} {...(benchmark.description ? { note: benchmark.description } : {})}>
        <p style={{ margin: '0 0 0.5rem', fontSize: '1.05rem', fontWeight: 600 }}>{arms.summary}</p>
        <p style={{ margin: 0, color: 'var(--pl-muted)', maxWidth: '90ch' }}>
          <strong>Rule:</strong> {arms.rule}
        </p>
      </Panel>
      {groups.map(([targetId, rows]) => (
        <Panel
          key={targetId}
          title={rows[0]?.target_name ?? 'Target'}
          actions={<Provenance rows={rows} />}
          note="The line is the median ratio of paired blocks, the band its 99.8 % interval."
        >
          <RatioChart rows={rows} summary={groups.length === 1 ? arms.summary : (worst(rows)?.words ?? '')} />
        </Panel>
      ))}
      <Panel title="Every point" flush note="Choose a point to see the raw samples behind it.">
        <ComparisonTable
          label="Comparisons"
          rows={arms.comparisons}
          showTarget={groups.length > 1}
          current={chosen === undefined ? undefined : comparisonKey(chosen)}
          onChoose={(row) => onPoint(comparisonKey(row))}
        />
      </Panel>
      {chosen !== undefined && <DistributionPanel comparison={chosen} />}
    </>
  );
}

function Provenance({ rows }: { rows: readonly Comparison[] }) {
  const first = rows[0];
  const verdict = worst(rows)?.verdict;
  return (
    <Group gap={8}>
      {rows.some((row) => row.demonstration) && <Status look={DEMONSTRATION} />}
      {verdict !== undefined && <Status look={VERDICTS[verdict]} />}
      {first?.run_id !== null && first?.run_id !== undefined && (
        <span style={{ fontSize: '0.875rem' }}>
          <AppLink to="/runs/$runId" params={{ runId: first.run_id }}>
            Run
          </AppLink>
          , <TimeAgo at={first.measured_at ?? null} />
        </span>
      )}
    </Group>
  );
}
