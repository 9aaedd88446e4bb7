/** Shows the configuration of a target: its errors by name, preflight, and the factors of its fingerprint. */
import type {
  ConfigurationError,
  PreflightFinding,
  Target,
} from '../../api/types';
import { DataTable } from '../../ui/data-table';
import { PREFLIGHT_LEVELS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { LEVELS } from './target-marks';

export function ConfigurationPanel({
  errors,
}: {
  errors: readonly ConfigurationError[];
}) {
  return (
    <Panel
      title="Configuration errors"
      flush
      about="A configuration error voids the jobs of this device unless the run suppresses it. The verdict then says so."
    >
      {errors.length === 0 ? (
        <EmptyState icon="check" title="No configuration errors">
          The set-up of the device does not distort timings.
        </EmptyState>
      ) : (
        <DataTable
          label="Configuration errors"
          rows={errors}
          rowKey={({ name }) => name}
          columns={[
            {
              header: 'Name',
              cell: ({ name }) => <span className="pl-mono">{name}</span>,
            },
            { header: 'What is wrong', cell: ({ text }) => text, wrap: true },
            { header: 'Advice', cell: ({ advice }) => advice, wrap: true },
          ]}
        />
      )}
    </Panel>
  );
}

export function PreflightPanel({
  findings,
}: {
  findings: readonly PreflightFinding[];
}) {
  return (
    <Panel
      title="Preflight"
      flush
      about="What the agent found about this target, and what to do about it."
    >
      {findings.length === 0 ? (
        <EmptyState icon="check" title="No findings">
          The target is ready to measure.
        </EmptyState>
      ) : (
        <DataTable
          label="Preflight findings"
          rows={findings.toSorted(
            (a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level),
          )}
          rowKey={({ code, text }) => `${code}|${text}`}
          columns={[
            {
              header: 'Level',
              cell: ({ level }) => <Status look={PREFLIGHT_LEVELS[level]} />,
            },
            { header: 'Finding', cell: ({ text }) => text, wrap: true },
            { header: 'Advice', cell: ({ advice }) => advice, wrap: true },
          ]}
        />
      )}
    </Panel>
  );
}

export function Fingerprint({ target }: { target: Target }) {
  const factors = Object.entries(target.factors).toSorted(([a], [b]) =>
    a.localeCompare(b),
  );
  return (
    <Panel
      title="Fingerprint"
      flush
      note={
        <>
          A change of any factor starts a new history.{' '}
          <span className="pl-mono">{target.fingerprint.slice(0, 16)}</span>
        </>
      }
    >
      <DataTable
        label="Fingerprint factors"
        rows={factors}
        rowKey={([name]) => name}
        columns={[
          { header: 'Factor', cell: ([name]) => name.replaceAll('_', ' ') },
          {
            header: 'Value',
            cell: ([, value]) => (value === null ? 'unknown' : String(value)),
            wrap: true,
          },
        ]}
      />
    </Panel>
  );
}
