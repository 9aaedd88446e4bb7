/**
 * Shows a target: identity, state with its reason, actions, events, conditions over time, and measurements.
 * A device has more panels than a host.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';

import { targetKeys, targetQuery } from '../../api/targets';
import type { Target } from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Facts, Panel, MainAndAside } from '../../ui/panel';
import { PoliciesPanel } from '../../ui/policy-card';
import { TimeAgo } from '../../ui/time-ago';
import { ActionsPanel } from './actions-panel';
import { AxesPanel } from './axes-panel';
import { CheckPanel } from './check-panel';
import { ConditionsPanel } from './conditions-panel';
import { EventsPanel } from './events-panel';
import { NoisePanel, RunsPanel } from './runs-and-noise-panels';
import {
  ConfigurationPanel,
  Fingerprint,
  PreflightPanel,
} from './configuration-panels';
import { TitleMarks } from './target-marks';
import type { TargetSearch } from './targets-search';
import { readingTexts } from './target-texts';

export interface TargetPageProps {
  targetId: string;
  search: TargetSearch;
  onSearch: (search: TargetSearch) => void;
}

/** Refetches the target after each of its events, because an event does not contain what changed. */
function useTargetEvents(targetId: string): void {
  const client = useQueryClient();
  useLiveStream({
    enabled: true,
    onEvent: ({ kind, data }) => {
      if (kind !== 'target' || data['id'] !== targetId) return;
      void client.invalidateQueries({ queryKey: targetKeys.target(targetId) });
      void client.invalidateQueries({ queryKey: targetKeys.events(targetId) });
    },
  });
}

export function TargetPage({ targetId, search, onSearch }: TargetPageProps) {
  const target = useQuery(targetQuery(targetId));
  useTargetEvents(targetId);
  return (
    <Page
      title={target.data?.name ?? 'Target'}
      crumb={<AppLink to="/targets">Targets</AppLink>}
      {...(target.data === undefined
        ? {}
        : { lead: <TitleMarks target={target.data} /> })}
    >
      <QueryView query={target} what="target" lines={8}>
        {(data) => (
          <MainAndAside
            main={
              <MainPanels target={data} search={search} onSearch={onSearch} />
            }
            aside={
              <>
                {!data.imported && <ActionsPanel target={data} />}
                <About target={data} />
                <EventsPanel
                  targetId={data.id}
                  axis={search.axis}
                  onAxis={(axis) => onSearch({ ...search, axis })}
                />
              </>
            }
          />
        )}
      </QueryView>
    </Page>
  );
}

interface MainPanelsProps extends Omit<TargetPageProps, 'targetId'> {
  target: Target;
}

function MainPanels({ target, search, onSearch }: MainPanelsProps) {
  const isDevice = target.kind === 'device';
  return (
    <>
      <AxesPanel target={target} />
      {isDevice && <CheckPanel check={target.check} />}
      {isDevice && (
        <ConditionsPanel
          targetId={target.id}
          over={search.over}
          onOver={(over) => onSearch({ ...search, over })}
        />
      )}
      <RunsPanel targetId={target.id} />
      {!target.imported && <NoisePanel targetId={target.id} />}
      <PoliciesPanel filters={{ target: target.id }} />
      {isDevice && <ConfigurationPanel errors={target.configuration} />}
      {!target.imported && (
        <>
          <PreflightPanel findings={target.preflight} />
          <Fingerprint target={target} />
        </>
      )}
    </>
  );
}

const mono = (text: string) => <span className="pl-mono">{text}</span>;

function About({ target }: { target: Target }) {
  const { gates: readings, boot_id: boot } = target;
  return (
    <Panel title="About">
      <Facts
        items={[
          [
            'Kind',
            target.simulated ? `${target.kind}, simulated` : target.kind,
          ],
          ['Serial', mono(target.serial)],
          ...(target.imported
            ? [['Agent', 'none: its figures are imported'] as const]
            : [
                ['Agent', target.agent_name] as const,
                [
                  'Last seen',
                  <TimeAgo key="l" at={target.last_seen_at} />,
                ] as const,
              ]),
          ...(boot === null ? [] : [['Boot', mono(boot)] as const]),
          ...(readings === null ? [] : readingTexts(readings)),
          ...(readings === null
            ? []
            : [['Last reading', formatDateTime(readings.at)] as const]),
        ]}
      />
    </Panel>
  );
}
